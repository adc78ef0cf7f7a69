"""The table of the APIs that model servers have: how requests are addressed and written, and answers are read."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from jarvis_workers.errors import BrokenAnswer
from jarvis_workers.models.platforms import messages_api, responses_api
from jarvis_workers.models.platforms.json_fields import (
    arguments_text,
    decode_object,
    mapping,
    number,
    optional,
    quote,
    sequence,
    text,
)
from jarvis_workers.models.platforms.profiles import Effort, EffortField, Profile
from jarvis_workers.models.platforms.protocol import (
    REFUSAL,
    Message,
    ModelRequest,
    OnText,
    Reply,
    TokenUsage,
    ToolCall,
    ToolSpec,
    wire_name,
)
from jarvis_workers.models.platforms.request_format import Item, RequestFormat

# The API chat.completions, which most servers have; its variants are in the profiles.

SEED = 7
CALLS_MAX = 128
THOUGHTS = ("reasoning_content", "reasoning")


def _head(profile: Profile, request: ModelRequest) -> dict[str, Any]:
    if not request.tools:
        return {}
    several = profile.parallel_calls and request.has_readers
    switch = {"parallel_tool_calls": several} if profile.parallel_switch else {}
    return {"tools": [_tool(spec) for spec in request.tools], **switch}


def _items(profile: Profile, group: Sequence[Message]) -> list[Item]:
    return [_message(message, profile.reasoning_field) for message in group]


def _message(message: Message, reasoning_field: str) -> Item:
    body: Item = {"role": message.role, "content": message.content}
    if message.call_id is not None:
        body["tool_call_id"] = message.call_id
    if message.calls:
        body["tool_calls"] = [_call(call) for call in message.calls]
    if message.reasoning is not None:
        body[reasoning_field] = message.reasoning
    return body


def _call(call: ToolCall) -> Item:
    return {"id": call.id, "type": "function", "function": {"name": wire_name(call.name), "arguments": call.arguments}}


def _tool(spec: ToolSpec) -> Item:
    function = {"name": wire_name(spec.name), "description": spec.description, "parameters": dict(spec.parameters)}
    return {"type": "function", "function": function}


def _tail(profile: Profile, request: ModelRequest) -> dict[str, Any]:
    tail: dict[str, Any] = {}
    if request.schema is not None:
        form = {"name": "report", "schema": dict(request.schema), "strict": True}
        tail["response_format"] = {"type": "json_schema", "json_schema": form}
    tail[profile.max_tokens_field] = profile.answer_tokens
    if profile.temperature is not None:
        tail["temperature"] = profile.temperature if request.temperature is None else request.temperature
    if profile.seed:
        tail["seed"] = SEED + request.vote
    if profile.reasoning_effort is not None:
        tail |= _effort(profile.effort_field, profile.reasoning_effort)
    return tail


def _effort(field: EffortField, effort: Effort) -> dict[str, Any]:
    """Return the reasoning effort; providers with a switch only are told whether the model reasons at all."""
    if field == "thinking":
        return {"thinking": {"type": "disabled" if effort == "none" else "enabled"}}
    return {"enable_thinking": effort != "none"} if field == "enable_thinking" else {"reasoning_effort": effort}


FORM = RequestFormat("messages", _head, _items, _tail)


def read_completion(answer: Mapping[str, Any]) -> Reply:
    """Return the reply in a chat.completion object. Raises BrokenAnswer."""
    choice = _choice(answer)
    message = mapping(choice.get("message"))
    refusal = text(message.get("refusal"))
    return Reply(
        content=text(message.get("content")) or refusal,
        calls=tuple(_read_call(call, place) for place, call in enumerate(sequence(message.get("tool_calls")))),
        reasoning=next((message[name] for name in THOUGHTS if isinstance(message.get(name), str)), None),
        finish=REFUSAL if refusal else optional(choice.get("finish_reason")),
        usage=_usage(answer.get("usage")),
        model=text(answer.get("model")),
    )


def _choice(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    choices = sequence(answer.get("choices"))
    if not choices:
        raise BrokenAnswer(f"the server's response has no choices: {quote(answer.get('error', answer))}")
    return mapping(choices[0])


def _read_call(call: object, place: int) -> ToolCall:
    fields = mapping(call)
    function = mapping(fields.get("function"))
    arguments = arguments_text(function.get("arguments"))
    return ToolCall(text(fields.get("id")) or f"call_{place}", text(function.get("name")), arguments)


def _usage(value: object) -> TokenUsage:
    if not isinstance(value, Mapping):
        return TokenUsage()
    prompt, completion = value.get("prompt_tokens_details"), value.get("completion_tokens_details")
    # DeepSeek and Moonshot have names of their own.
    cached = number(prompt, "cached_tokens") or number(value, "prompt_cache_hit_tokens")
    return TokenUsage(
        number(value, "prompt_tokens"),
        number(value, "completion_tokens"),
        cached or number(value, "cached_tokens"),
        number(completion, "reasoning_tokens"),
    )


class CompletionChunks:
    """The chunks of a streamed chat.completion."""

    def __init__(self) -> None:
        self._content: list[str] = []
        self._thoughts: list[str] = []
        self._refusal: list[str] = []
        self._calls: dict[int, dict[str, str]] = {}
        self._finish: object = None
        self._usage: object = None
        self._model: object = None

    def add(self, event: Mapping[str, Any]) -> str:
        # vLLM had errors without the field "error".
        if event.get("error") or event.get("object") == "error":
            raise BrokenAnswer(f"the server ended its answer with an error: {quote(event.get('error') or event)}")
        self._model = event.get("model") or self._model
        self._usage = event.get("usage") or self._usage
        choices = sequence(event.get("choices"))
        if not choices:
            return ""
        choice = mapping(choices[0])
        self._finish = choice.get("finish_reason") or self._finish
        return self._add_delta(mapping(choice.get("delta") or {}))

    def answer(self) -> Mapping[str, Any]:
        calls = [{"id": call["id"], "function": call} for _, call in sorted(self._calls.items())]
        message = {
            "content": "".join(self._content),
            THOUGHTS[0]: "".join(self._thoughts) or None,
            "refusal": "".join(self._refusal),
            "tool_calls": calls,
        }
        choices = [{"message": message, "finish_reason": self._finish}]
        return {"choices": choices, "usage": self._usage, "model": self._model}

    def _add_delta(self, delta: Mapping[str, Any]) -> str:
        content = delta.get("content")
        piece = content if isinstance(content, str) else ""
        self._content.append(piece)
        self._refusal.append(text(delta.get("refusal")))
        self._thoughts.append(next((delta[name] for name in THOUGHTS if isinstance(delta.get(name), str)), ""))
        for place, part in enumerate(sequence(delta.get("tool_calls"))):
            self._add_call(mapping(part), place)
        return piece

    def _add_call(self, part: Mapping[str, Any], place: int) -> None:
        """Add a part of a call; the parts of a call have the same index."""
        index = part.get("index")
        call = self._calls.setdefault(
            index if isinstance(index, int) else place, {"id": "", "name": "", "arguments": ""}
        )
        if len(self._calls) > CALLS_MAX:
            raise BrokenAnswer(f"the answer has more than {CALLS_MAX} tool calls")
        function = mapping(part.get("function") or {})
        call["id"] = call["id"] or text(part.get("id"))
        call["name"] = call["name"] or text(function.get("name"))
        arguments = function.get("arguments")
        call["arguments"] += arguments if isinstance(arguments, str) else ""


ANTHROPIC_VERSION = "2023-06-01"


class AnswerEvents(Protocol):
    """The events of one streamed answer, as they arrive."""

    def add(self, event: Mapping[str, Any]) -> str:
        """Add an event and return the text that it brings; raises BrokenAnswer."""

    def answer(self) -> Mapping[str, Any]:
        """Return the answer as it would be without a stream."""


@dataclass(frozen=True)
class ModelApi:
    """An API: `read` parses a whole answer, `url` returns the address of its requests below a base address."""

    url: Callable[[str], str]
    headers: Callable[[str], Mapping[str, str]]
    form: RequestFormat
    read: Callable[[Mapping[str, Any]], Reply]
    events: Callable[[], AnswerEvents]


def decode(body: bytes, api: str = "chat") -> Reply:
    """Parse a whole response. Raises BrokenAnswer."""
    return APIS[api].read(decode_object(body))


def _bearer(key: str) -> Mapping[str, str]:
    return {"Authorization": f"Bearer {key}"}


def _anthropic(key: str) -> Mapping[str, str]:
    return {"x-api-key": key, "anthropic-version": ANTHROPIC_VERSION}


def _messages_url(base_url: str) -> str:
    """Return the address below a base with or without the version, since Anthropic's own clients add it."""
    return base_url + ("/messages" if base_url.endswith("/v1") else "/v1/messages")


APIS: Mapping[str, ModelApi] = {
    "chat": ModelApi(
        lambda base_url: f"{base_url}/chat/completions",
        _bearer,
        FORM,
        read_completion,
        CompletionChunks,
    ),
    "responses": ModelApi(
        lambda base_url: f"{base_url}/responses",
        _bearer,
        responses_api.FORM,
        responses_api.read_response,
        responses_api.ResponseEvents,
    ),
    "messages": ModelApi(
        _messages_url, _anthropic, messages_api.FORM, messages_api.read_message, messages_api.MessageEvents
    ),
}


# Read a streamed answer (server-sent events), and pass its text on while it arrives.

FIELD, LAST = b"data:", b"[DONE]"
# llama.cpp had errors in a field of their own.
ERROR_FIELD = b"error:"


class AnswerStream:
    """The answer to one request; `begin` starts each attempt at it."""

    def __init__(self, on_text: OnText, api: str = "chat") -> None:
        self._on_text, self._api = on_text, api
        self._has_text = False
        self._start()

    def begin(self) -> None:
        """Drop what an earlier attempt has received, and say so if some of its text was passed on."""
        if self._has_text:
            self._on_text(None)
        self._start()

    def add(self, line: bytes) -> None:
        """Add a line of the response; raises BrokenAnswer. Comments and other fields than `data` are ignored."""
        if line.startswith(ERROR_FIELD):
            raise BrokenAnswer(f"the server ended its answer with an error: {quote(line)}")
        if not line.startswith(FIELD):
            return
        data = line[len(FIELD) :].strip()
        self._is_stream = True
        if data and data != LAST:
            self._add_event(data)

    def read(self, body: bytes) -> Reply:
        """Return the whole answer; `body` is the complete response. Raises BrokenAnswer."""
        if self._is_stream:
            return APIS[self._api].read(self._events.answer())
        reply = decode(body, self._api)
        self._pass_on(reply.content)
        return reply

    def _start(self) -> None:
        self._is_stream = self._has_text = False
        self._events = APIS[self._api].events()

    def _add_event(self, data: bytes) -> None:
        try:
            event = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise BrokenAnswer(f"a part of the server's answer is not JSON: {quote(data)}") from error
        self._pass_on(self._events.add(mapping(event)))

    def _pass_on(self, text: str) -> None:
        if text:
            self._has_text = True
            self._on_text(text)
