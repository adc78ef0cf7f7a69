"""Parse chat.completions responses.

Responses are untrusted: a value of the wrong type raises BrokenAnswer, which is retried; missing values (usage, finish
reason) stay empty in the reply, and the agent loop handles them.
"""

import json
from collections.abc import Mapping
from typing import Any

from jarvis_workers.errors import BrokenAnswer
from jarvis_workers.platforms.protocol import Reply, TokenUsage, ToolCall
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
    return read_completion(_mapping(answer))


def read_completion(answer: Mapping[str, Any]) -> Reply:
    """Return the reply in a chat.completion object. Raises BrokenAnswer."""
    choice = _choice(answer)
    message = _mapping(choice.get("message"))
    return Reply(
        content=_text(message.get("content")),
        calls=tuple(_call(call, place) for place, call in enumerate(_sequence(message.get("tool_calls")))),
        reasoning=_thoughts(message),
        finish=_optional(choice.get("finish_reason")),
        usage=_usage(answer.get("usage")),
        model=_text(answer.get("model")),
    )


def _choice(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    choices = _sequence(answer.get("choices"))
    if not choices:
        raise BrokenAnswer(f"the server's response has no choices: {_quote(answer.get('error', answer))}")
    return _mapping(choices[0])


def _call(call: object, place: int) -> ToolCall:
    fields = _mapping(call)
    function = _mapping(fields.get("function"))
    arguments = function.get("arguments")
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return ToolCall(_text(fields.get("id")) or f"call_{place}", _text(function.get("name")), text)


def _thoughts(message: Mapping[str, Any]) -> str | None:
    return next((message[name] for name in THOUGHTS if isinstance(message.get(name), str)), None)


def _usage(value: object) -> TokenUsage:
    if not isinstance(value, Mapping):
        return TokenUsage()
    prompt, completion = value.get("prompt_tokens_details"), value.get("completion_tokens_details")
    cached = _number(prompt, "cached_tokens") or _number(value, "prompt_cache_hit_tokens")
    return TokenUsage(
        _number(value, "prompt_tokens"),
        _number(value, "completion_tokens"),
        cached,
        _number(completion, "reasoning_tokens"),
    )


def _number(fields: object, name: str) -> int:
    value = fields.get(name) if isinstance(fields, Mapping) else None
    return min(value, MOST_TOKENS) if isinstance(value, int) and value >= 0 else 0


def _mapping(value: object) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise BrokenAnswer(f"the server's response has an unexpected format: {_quote(value)}")
    return value


def _sequence(value: object) -> list[Any]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise BrokenAnswer(f"the server's response has an unexpected format: {_quote(value)}")
    return value


def _text(value: object) -> str:
    """Return text; some servers send it as a list of parts."""
    if isinstance(value, list):
        return "".join(_text(part.get("text")) for part in value if isinstance(part, Mapping))
    return value if isinstance(value, str) else ""


def _optional(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _quote(value: object) -> str:
    text = value[:LOOKED_AT].decode("utf-8", "replace") if isinstance(value, bytes) else str(value)[:LOOKED_AT]
    return repr(redact_server_text(text)[:QUOTED])
