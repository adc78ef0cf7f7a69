"""OpenAI's Responses API, used without storage at the provider.

The model's reasoning is returned encrypted, and sent back with the calls that it led to.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from jarvis_workers.errors import BrokenAnswer
from jarvis_workers.models.platforms.json_fields import arguments_text, mapping, number, optional, quote, sequence, text
from jarvis_workers.models.platforms.profiles import Profile
from jarvis_workers.models.platforms.protocol import (
    REFUSAL,
    Message,
    ModelRequest,
    Reply,
    TokenUsage,
    ToolCall,
    ToolSpec,
    wire_name,
)
from jarvis_workers.models.platforms.request_format import Item, RequestFormat

ENCRYPTED = "reasoning.encrypted_content"
FINISHES = {"max_output_tokens": "length"}
ENDS = frozenset({"response.completed", "response.incomplete", "response.failed"})
TEXT_DELTAS = {"response.output_text.delta": "output_text", "response.refusal.delta": "refusal"}
# Ids and states exist only where the provider stores responses.
NOT_SENT_BACK = frozenset({"id", "status"})
ITEMS_MAX = 512


def _head(profile: Profile, request: ModelRequest) -> dict[str, Any]:
    if not request.tools:
        return {}
    several = profile.parallel_calls and request.has_readers
    switch = {"parallel_tool_calls": several} if profile.parallel_switch else {}
    return {"tools": [_tool(spec) for spec in request.tools], **switch}


def _tool(spec: ToolSpec) -> Item:
    about = {"name": wire_name(spec.name), "description": spec.description, "parameters": dict(spec.parameters)}
    return {"type": "function", **about, "strict": False}


def _items(profile: Profile, group: Sequence[Message]) -> list[Item]:
    return [item for message in group for item in _items_of(message)]


def _items_of(message: Message) -> list[Item]:
    if message.role == "tool":
        return [{"type": "function_call_output", "call_id": message.call_id, "output": message.content}]
    items: list[Item] = json.loads(message.reasoning_items) if message.reasoning_items else []
    if message.content or not message.calls:
        items.append({"role": message.role, "content": message.content})
    return items + [_call(call) for call in message.calls]


def _call(call: ToolCall) -> Item:
    return {"type": "function_call", "call_id": call.id, "name": wire_name(call.name), "arguments": call.arguments}


def _tail(profile: Profile, request: ModelRequest) -> dict[str, Any]:
    tail: dict[str, Any] = {"max_output_tokens": profile.answer_tokens, "store": False}
    if request.schema is not None:
        form = {"type": "json_schema", "name": "report", "schema": dict(request.schema), "strict": True}
        tail["text"] = {"format": form}
    if profile.temperature is not None:
        tail["temperature"] = profile.temperature if request.temperature is None else request.temperature
    if profile.reasoning != "none":
        tail["include"] = [ENCRYPTED]
    if profile.reasoning_effort is not None:
        tail["reasoning"] = {"effort": profile.reasoning_effort}
    return tail


FORM = RequestFormat("input", _head, _items, _tail)


def read_response(answer: Mapping[str, Any]) -> Reply:
    """Return the reply in a response object. Raises BrokenAnswer."""
    if answer.get("status") == "failed" or not isinstance(answer.get("output"), list):
        raise BrokenAnswer(f"the server's response has no output: {quote(answer.get('error') or answer)}")
    items = [mapping(item) for item in answer["output"]]
    calls = tuple(_read_call(item, at) for at, item in enumerate(items) if item.get("type") == "function_call")
    reasoning = [item for item in items if item.get("type") == "reasoning"]
    parts = [mapping(part) for item in items if item.get("type") == "message" for part in sequence(item.get("content"))]
    refusal = "".join(text(part.get("refusal")) for part in parts if part.get("type") == "refusal")
    return Reply(
        content="".join(text(part.get("text")) for part in parts if part.get("type") == "output_text") or refusal,
        calls=calls,
        reasoning="\n\n".join(text(item.get("summary")) for item in reasoning).strip() or None,
        finish=REFUSAL if refusal else _finish(answer, has_calls=bool(calls)),
        usage=_usage(answer.get("usage")),
        model=text(answer.get("model")),
        reasoning_items=_sendable(reasoning),
    )


def _finish(answer: Mapping[str, Any], *, has_calls: bool) -> str | None:
    if answer.get("status") == "completed":
        return "tool_calls" if has_calls else "stop"
    reason = optional(mapping(answer.get("incomplete_details") or {}).get("reason"))
    return FINISHES.get(reason, reason) if reason else None


def _sendable(reasoning: Sequence[Mapping[str, Any]]) -> str | None:
    """Return the reasoning items that can be sent back, as JSON; None if there are none."""
    items = [item for item in reasoning if item.get("encrypted_content")]
    sent = [{name: value for name, value in item.items() if name not in NOT_SENT_BACK} for item in items]
    return json.dumps(sent, ensure_ascii=False) if sent else None


def _read_call(item: Mapping[str, Any], place: int) -> ToolCall:
    arguments = arguments_text(item.get("arguments"))
    return ToolCall(text(item.get("call_id")) or f"call_{place}", text(item.get("name")), arguments)


def _usage(value: object) -> TokenUsage:
    if not isinstance(value, Mapping):
        return TokenUsage()
    return TokenUsage(
        number(value, "input_tokens"),
        number(value, "output_tokens"),
        number(value.get("input_tokens_details"), "cached_tokens"),
        number(value.get("output_tokens_details"), "reasoning_tokens"),
    )


class ResponseEvents:
    """The events of a streamed response, whose last has the whole response."""

    def __init__(self) -> None:
        self._response: Mapping[str, Any] | None = None
        self._items: list[Mapping[str, Any]] = []
        self._parts: dict[str, list[str]] = {}

    def add(self, event: Mapping[str, Any]) -> str:
        kind = event.get("type")
        if kind == "error":
            raise BrokenAnswer(f"the server ended its answer with an error: {quote(event)}")
        if kind in ENDS:
            self._response = mapping(event.get("response"))
        elif kind == "response.output_item.done":
            self._items.append(mapping(event.get("item")))
            if len(self._items) > ITEMS_MAX:
                raise BrokenAnswer(f"the answer has more than {ITEMS_MAX} items")
        elif part := TEXT_DELTAS.get(text(kind)):
            piece = text(event.get("delta"))
            self._parts.setdefault(part, []).append(piece)
            return piece if part == "output_text" else ""
        return ""

    def answer(self) -> Mapping[str, Any]:
        """Return the response; without its end, what has arrived of it, with no status."""
        if self._response is None:
            content = [{"type": part, _field(part): "".join(pieces)} for part, pieces in self._parts.items()]
            return {"output": [{"type": "message", "content": content}]}
        return self._response if self._response.get("output") else {**self._response, "output": self._items}


def _field(part: str) -> str:
    return "refusal" if part == "refusal" else "text"
