"""Serialize chat.completions requests.

Serialization is deterministic: each request starts with the bytes of the one before, unless the profile drops the
reasoning of an earlier turn. This makes the providers' prompt caches effective, and only the new part must be
serialized and hashed.
"""

import json
from collections.abc import Iterator, Mapping
from hashlib import sha256
from operator import is_
from typing import Any, NamedTuple

from jarvis_workers.platforms.profiles import Profile
from jarvis_workers.platforms.protocol import Message, ModelRequest, ToolCall, ToolSpec
from jarvis_workers.platforms.wire_names import wire_name

SEED = 7


class Written(NamedTuple):
    """The body of a request, and its cache key: a hash of the request and the vote."""

    body: bytes
    key: str


class RequestWriter:
    """Serializes the requests of a conversation with one model; tools and messages come first, variable parts last."""

    def __init__(self, model: str, profile: Profile) -> None:
        self._model, self._profile = model, profile
        self._messages: tuple[Message, ...] = ()
        self._start: tuple[object, ...] | None = None
        self._last, self._end, self._hash = b"", 0, sha256()

    def write(self, request: ModelRequest) -> Written:
        """Return the serialized request, reusing the prefix shared with the previous one."""
        if not self._continues(request):
            self._begin(request)
        new, tail = b"".join(self._new(request)), self._tail(request)
        self._last = self._last[: self._end] + new + tail
        self._end += len(new)
        self._hash.update(new)
        self._messages = request.messages
        whole = self._hash.copy()
        whole.update(tail + b"\0%d" % request.vote)
        return Written(self._last, whole.hexdigest())

    def _continues(self, request: ModelRequest) -> bool:
        if self._start != (request.tools, request.turn) or len(self._messages) > len(request.messages):
            return False
        return all(map(is_, self._messages, request.messages))

    def _begin(self, request: ModelRequest) -> None:
        head: dict[str, Any] = {"model": self._model}
        if request.tools:
            head["tools"] = [_tool(spec) for spec in request.tools]
            if self._profile.parallel_switch:
                head["parallel_tool_calls"] = self._profile.parallel_calls and any(s.reads_only for s in request.tools)
        self._start, self._messages = (request.tools, request.turn), ()
        self._last = _json(head)[:-1] + b',"messages":['
        self._end, self._hash = len(self._last), sha256(self._last)

    def _new(self, request: ModelRequest) -> Iterator[bytes]:
        profile = self._profile
        for place in range(len(self._messages), len(request.messages)):
            keeps = profile.reasoning == "all" or (profile.reasoning == "turn" and place >= request.turn)
            yield b"," if place else b""
            yield _json(_message(request.messages[place], profile.reasoning_field if keeps else None))

    def _tail(self, request: ModelRequest) -> bytes:
        profile, tail = self._profile, dict[str, Any]()
        if request.schema is not None:
            tail["response_format"] = _form(request.schema)
        tail[profile.max_tokens_field] = profile.answer_tokens
        if profile.temperature is not None:
            tail["temperature"] = profile.temperature if request.temperature is None else request.temperature
        if profile.seed:
            tail["seed"] = SEED + request.vote
        return b"]," + _json(tail)[1:]


def streamed(body: bytes, profile: Profile) -> bytes:
    """Return a serialized request that asks for its answer as a stream."""
    usage = b',"stream_options":{"include_usage":true}' if profile.stream_usage else b""
    return body[:-1] + b',"stream":true' + usage + b"}"


def _message(message: Message, thoughts: str | None) -> dict[str, Any]:
    """Return a message as JSON, with its reasoning in the field named `thoughts`, or without it if that is None."""
    body: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.call_id is not None:
        body["tool_call_id"] = message.call_id
    if message.calls:
        body["tool_calls"] = [_call(call) for call in message.calls]
    if message.reasoning is not None and thoughts:
        body[thoughts] = message.reasoning
    return body


def _call(call: ToolCall) -> dict[str, Any]:
    return {"id": call.id, "type": "function", "function": {"name": wire_name(call.name), "arguments": call.arguments}}


def _tool(spec: ToolSpec) -> dict[str, Any]:
    function = {"name": wire_name(spec.name), "description": spec.description, "parameters": dict(spec.parameters)}
    return {"type": "function", "function": function}


def _form(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": {"name": "report", "schema": dict(schema), "strict": True}}


def _json(part: Mapping[str, Any]) -> bytes:
    """Encode as JSON; lone surrogates are replaced, since they are not valid UTF-8."""
    return json.dumps(part, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
