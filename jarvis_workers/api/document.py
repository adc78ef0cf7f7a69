"""The input of report renderers in the Python API."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from jarvis_workers.sec.report_document import ReportBody


@dataclass(frozen=True, slots=True)
class ReportDocument:
    """The input of a renderer: `run` part and body of a report, the language, and code excerpts of findings."""

    run: Mapping[str, Any]
    body: ReportBody
    language: str = "en"
    excerpts: Mapping[str, Any] = field(default_factory=dict)
    files: frozenset[str] = frozenset()
    min_confidence: float = 0.0
