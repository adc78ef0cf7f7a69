"""Read the fields of a server's JSON, which is untrusted: a value of the wrong type raises BrokenAnswer.

Missing values are empty: the agent loop handles what they mean.
"""

import json
from collections.abc import Mapping
from typing import Any

from jarvis_workers.errors import BrokenAnswer
from jarvis_workers.redact import redact_server_text

QUOTED, LOOKED_AT = 120, 8_192
MOST_TOKENS = 1_000_000_000


def decode_object(body: bytes) -> Mapping[str, Any]:
    """Decode a JSON object."""
    try:
        return mapping(json.loads(body))
    except (ValueError, RecursionError) as error:
        raise BrokenAnswer(f"the server's response is not JSON: {quote(body)}") from error


def mapping(value: object) -> Mapping[str, Any]:
    """Return an object."""
    if not isinstance(value, Mapping):
        raise BrokenAnswer(f"the server's response has an unexpected format: {quote(value)}")
    return value


def sequence(value: object) -> list[Any]:
    """Return an array, empty if it is missing."""
    if value is None:
        return []
    if not isinstance(value, list):
        raise BrokenAnswer(f"the server's response has an unexpected format: {quote(value)}")
    return value


def text(value: object) -> str:
    """Return text; some servers send it as a list of parts."""
    if isinstance(value, list):
        return "".join(text(part.get("text")) for part in value if isinstance(part, Mapping))
    return value if isinstance(value, str) else ""


def optional(value: object) -> str | None:
    """Return a text that is not empty, else None."""
    return value if isinstance(value, str) and value else None


def number(fields: object, name: str) -> int:
    """Return a count; 0 if it is missing, negative or no number."""
    value = fields.get(name) if isinstance(fields, Mapping) else None
    return min(value, MOST_TOKENS) if isinstance(value, int) and value >= 0 else 0


def arguments_text(value: object) -> str:
    """Return the arguments of a call as the text that the model wrote; some servers send them decoded."""
    return value if isinstance(value, str) else json.dumps(value)


def quote(value: object) -> str:
    """Return the start of a value for an error message, without API keys."""
    start = value[:LOOKED_AT].decode("utf-8", "replace") if isinstance(value, bytes) else str(value)[:LOOKED_AT]
    return repr(redact_server_text(start)[:QUOTED])
