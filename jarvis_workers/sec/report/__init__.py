"""Reports: one body, built once, and a renderer for each format."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from jarvis_workers.report_formats import FORMAT_NAMES
from jarvis_workers.sec.report.body import build, every_issue, gather
from jarvis_workers.sec.report.json import json_line
from jarvis_workers.sec.report.lazy import LazyRenderer
from jarvis_workers.sec.report_document import ReportBody

__all__ = [
    "FORMATS",
    "PATCHED",
    "QUOTING",
    "WITH_TOOLS",
    "WORDED",
    "Renderer",
    "build",
    "every_issue",
    "gather",
    "json_line",
]

Renderer = Callable[[ReportBody, Mapping[str, Any]], Iterator[str]]

FORMATS: Mapping[str, Renderer] = {name: LazyRenderer(name) for name in FORMAT_NAMES}
# Formats that show the code around findings, from `body.excerpts`.
QUOTING = frozenset({"html"})
# Formats that show the patches of findings, from `body.patches`.
PATCHED = frozenset({"html", "markdown", "sarif", "text"})
# Formats with a part for each other analyzer, from `body.alerts`.
WITH_TOOLS = frozenset({"sarif"})
# Formats that contain the texts of rules in the language of the run; the services that read the others expect English.
WORDED = frozenset({"html", "json", "markdown", "text"})
