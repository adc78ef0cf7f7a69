"""What a report of the Python API is rendered from."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["ReportDocument"]


@dataclass(frozen=True, slots=True)
class ReportDocument:
    """What renderers take: the `run` part and the body of a report, the language, and the code around findings."""

    run: Mapping[str, Any]
    body: Mapping[str, Any]
    language: str = "en"
    excerpts: Mapping[str, Any] = field(default_factory=dict)
    files: frozenset[str] = frozenset()
    min_confidence: float = 0.0
