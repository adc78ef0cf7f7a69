"""Parse chat.completions responses, whole or streamed.

Responses are untrusted: a value of the wrong type raises BrokenAnswer, which is retried; missing values (usage, finish
reason) stay empty in the reply, and the agent loop deals with them.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from jarvis_workers.errors import BrokenAnswer
from jarvis_workers.platforms.protocol import Hear, Reply, TokenUsage, ToolCall
from jarvis_workers.redact import redact_server_text

THOUGHTS = ("reasoning_content", "reasoning")
QUOTED, LOOKED_AT = 120, 8_192
MOST_TOKENS = 1_000_000_000


def decode(body: bytes) -> Reply:
    """Parse a whole response. Raises BrokenAnswer."""
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise BrokenAnswer(f"the server's response is not JSON: {_quote(body)}") from error
    choice = _choice(_mapping(answer))
    message = _mapping(choice.get("message"))
    return Reply(
        content=_text(message.get("content")),
        calls=tuple(_call(call, place) for place, call in enumerate(_sequence(message.get("tool_calls")))),
        reasoning=_thoughts(message),
        finish=_optional(choice.get("finish_reason")),
        usage=_usage(answer.get("usage")),
        model=_text(answer.get("model")),
    )


def gather(pieces: Iterable[Mapping[str, Any]], hear: Hear) -> Reply:
    """Assemble a streamed response, passing each piece of its text to `hear`. Raises BrokenAnswer."""
    building = _Building()
    for piece in pieces:
        hear(building.add(_mapping(piece)))
    return building.reply()


class _Building:
    """A streamed response being assembled."""

    def __init__(self) -> None:
        self.content: list[str] = []
        self.thoughts: list[str] = []
        self.calls: dict[int, list[str]] = {}
        self.finish: str | None = None
        self.usage, self.model = TokenUsage(), ""

    def add(self, piece: Mapping[str, Any]) -> str:
        """Add a piece and return its text."""
        if piece.get("usage"):
            self.usage = _usage(piece["usage"])
        self.model = _text(piece.get("model")) or self.model
        choices = _sequence(piece.get("choices"))
        if not choices:
            return ""
        choice = _mapping(choices[0])
        delta = _mapping(choice.get("delta") or {})
        self.finish = _optional(choice.get("finish_reason")) or self.finish
        self.thoughts.append(_thoughts(delta) or "")
        for call in _sequence(delta.get("tool_calls")):
            self._add_call(_mapping(call))
        text = _text(delta.get("content"))
        self.content.append(text)
        return text

    def reply(self) -> Reply:
        calls = (
            ToolCall(known or f"call_{place}", name, arguments)
            for place, (known, name, arguments) in self.calls.items()
        )
        return Reply(
            content="".join(self.content),
            calls=tuple(calls),
            reasoning="".join(self.thoughts) or None,
            finish=self.finish,
            usage=self.usage,
            model=self.model,
        )

    def _add_call(self, piece: Mapping[str, Any]) -> None:
        index = piece.get("index")
        place = index if isinstance(index, int) else len(self.calls)
        function = _mapping(piece.get("function") or {})
        call = self.calls.setdefault(place, ["", "", ""])
        call[0] = call[0] or _text(piece.get("id"))
        call[1] += _text(function.get("name"))
        call[2] += _text(function.get("arguments"))


def _choice(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    choices = _sequence(answer.get("choices"))
    if not choices:
        raise BrokenAnswer(f"the server's response has no choices: {_quote(answer.get('error', answer))}")
    return _mapping(choices[0])


def _call(call: object, place: int) -> ToolCall:
    found = _mapping(call)
    function = _mapping(found.get("function"))
    arguments = function.get("arguments")
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return ToolCall(_text(found.get("id")) or f"call_{place}", _text(function.get("name")), text)


def _thoughts(message: Mapping[str, Any]) -> str | None:
    return next((message[name] for name in THOUGHTS if isinstance(message.get(name), str)), None)


def _usage(found: object) -> TokenUsage:
    if not isinstance(found, Mapping):
        return TokenUsage()
    prompt, completion = found.get("prompt_tokens_details"), found.get("completion_tokens_details")
    cached = _number(prompt, "cached_tokens") or _number(found, "prompt_cache_hit_tokens")
    return TokenUsage(
        _number(found, "prompt_tokens"),
        _number(found, "completion_tokens"),
        cached,
        _number(completion, "reasoning_tokens"),
    )


def _number(found: object, name: str) -> int:
    value = found.get(name) if isinstance(found, Mapping) else None
    return min(value, MOST_TOKENS) if isinstance(value, int) and value >= 0 else 0


def _mapping(found: object) -> Mapping[str, Any]:
    if not isinstance(found, Mapping):
        raise BrokenAnswer(f"the server's response has an unexpected format: {_quote(found)}")
    return found


def _sequence(found: object) -> list[Any]:
    if found is None:
        return []
    if not isinstance(found, list):
        raise BrokenAnswer(f"the server's response has an unexpected format: {_quote(found)}")
    return found


def _text(found: object) -> str:
    """Return text; some servers send it as a list of parts."""
    if isinstance(found, list):
        return "".join(_text(part.get("text")) for part in found if isinstance(part, Mapping))
    return found if isinstance(found, str) else ""


def _optional(found: object) -> str | None:
    return found if isinstance(found, str) and found else None


def _quote(found: object) -> str:
    text = found[:LOOKED_AT].decode("utf-8", "replace") if isinstance(found, bytes) else str(found)[:LOOKED_AT]
    return repr(redact_server_text(text)[:QUOTED])
