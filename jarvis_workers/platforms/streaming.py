"""Assemble a streamed answer (server-sent events of chat.completions), and pass its text on while it arrives.

The result is a chat.completion object, which `replies` reads like any other answer. A server that ignores the request
for a stream and sends one JSON object is understood as well. A stream that ends without a finish reason gives a reply
without one, which the agent loop handles as truncated.
"""

import json
from collections.abc import Mapping
from typing import Any

from jarvis_workers.errors import BrokenAnswer
from jarvis_workers.platforms.protocol import OnText, Reply
from jarvis_workers.platforms.replies import THOUGHTS, decode, read_completion
from jarvis_workers.redact import redact_server_text

FIELD, LAST = b"data:", b"[DONE]"
CALLS_MAX = 128
QUOTED = 120


class AnswerStream:
    """The answer to one request; `begin` starts each attempt at it."""

    def __init__(self, on_text: OnText) -> None:
        self._on_text = on_text
        self._has_text = False
        self._start()

    def begin(self) -> None:
        """Drop what an earlier attempt has received, and say so if some of its text was passed on."""
        if self._has_text:
            self._on_text(None)
        self._start()

    def add(self, line: bytes) -> None:
        """Add a line of the response; raises BrokenAnswer. Comments and other fields than `data` are ignored."""
        if not line.startswith(FIELD):
            return
        text = line[len(FIELD) :].strip()
        self._is_stream = True
        if text and text != LAST:
            self._add_chunk(_object(text))

    def read(self, body: bytes) -> Reply:
        """Return the whole answer; `body` is the complete response. Raises BrokenAnswer."""
        if self._is_stream:
            return read_completion(self._completion())
        reply = decode(body)
        self._pass_on(reply.content)
        return reply

    def _start(self) -> None:
        self._is_stream = self._has_text = False
        self._content: list[str] = []
        self._thoughts: list[str] = []
        self._calls: dict[int, dict[str, str]] = {}
        self._finish: object = None
        self._usage: object = None
        self._model: object = None

    def _pass_on(self, text: str) -> None:
        if text:
            self._has_text = True
            self._on_text(text)

    def _add_chunk(self, chunk: Mapping[str, Any]) -> None:
        if chunk.get("error"):
            raise BrokenAnswer(f"the server ended its answer with an error: {_quote(chunk['error'])}")
        self._model = chunk.get("model") or self._model
        self._usage = chunk.get("usage") or self._usage
        for choice in _list(chunk.get("choices"))[:1]:
            self._finish = _mapping(choice).get("finish_reason") or self._finish
            self._add_delta(_mapping(choice.get("delta") or {}))

    def _add_delta(self, delta: Mapping[str, Any]) -> None:
        if isinstance(text := delta.get("content"), str):
            self._content.append(text)
            self._pass_on(text)
        self._thoughts += [next((delta[name] for name in THOUGHTS if isinstance(delta.get(name), str)), "")]
        for place, part in enumerate(_list(delta.get("tool_calls"))):
            self._add_call(_mapping(part), place)

    def _add_call(self, part: Mapping[str, Any], place: int) -> None:
        """Add a part of a call; the parts of a call have the same index."""
        index = part.get("index")
        call = self._calls.setdefault(
            index if isinstance(index, int) else place, {"id": "", "name": "", "arguments": ""}
        )
        if len(self._calls) > CALLS_MAX:
            raise BrokenAnswer(f"the answer has more than {CALLS_MAX} tool calls")
        function = _mapping(part.get("function") or {})
        call["id"] = call["id"] or _text(part.get("id"))
        call["name"] = call["name"] or _text(function.get("name"))
        call["arguments"] += _text(function.get("arguments"))

    def _completion(self) -> dict[str, Any]:
        calls = [{"id": call["id"], "function": call} for _, call in sorted(self._calls.items())]
        thoughts = "".join(self._thoughts) or None
        message = {"content": "".join(self._content), THOUGHTS[0]: thoughts, "tool_calls": calls}
        choices = [{"message": message, "finish_reason": self._finish}]
        return {"choices": choices, "usage": self._usage, "model": self._model}


def _object(text: bytes) -> Mapping[str, Any]:
    try:
        return _mapping(json.loads(text))
    except (ValueError, RecursionError) as error:
        raise BrokenAnswer(f"a part of the server's answer is not JSON: {_quote(text)}") from error


def _mapping(value: object) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise BrokenAnswer(f"a part of the server's answer has an unexpected format: {_quote(value)}")
    return value


def _list(value: object) -> list[Any]:
    if not isinstance(value, list | None):
        raise BrokenAnswer(f"a part of the server's answer has an unexpected format: {_quote(value)}")
    return value or []


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _quote(value: object) -> str:
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
    return repr(redact_server_text(text[: QUOTED * 8])[:QUOTED])
