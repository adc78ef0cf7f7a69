"""The data types of a trace."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

# OpenTelemetry's name of the attribute with the class of an error.
ERROR = "error.type"


@dataclass(frozen=True, slots=True)
class EndedSpan:
    """A span that has ended; times are in seconds, `began` since 1970. Without a `parent` it is the root."""

    run_id: str
    name: str
    began: float
    seconds: float
    attributes: Mapping[str, Any]
    kind: Literal["internal", "client", "producer", "consumer"] = "internal"
    id: int | None = None
    parent: int | None = None
    error: str = ""
