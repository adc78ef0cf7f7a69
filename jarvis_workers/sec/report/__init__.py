"""Reports: one body, built once, and a renderer for each format."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import PurePath
from typing import Any

from jarvis_workers.sec.report.body import build, every_issue, gather
from jarvis_workers.sec.report.json import json_line
from jarvis_workers.sec.report.lazy import LazyRenderer
from jarvis_workers.sec.report_document import ReportBody

__all__ = [
    "FORMATS",
    "PATCHED",
    "QUOTING",
    "SUFFIXES",
    "WORDED",
    "Renderer",
    "build",
    "every_issue",
    "format_of",
    "gather",
    "json_line",
]

Renderer = Callable[[ReportBody, Mapping[str, Any]], Iterator[str]]

NAMES = "text json markdown sarif html junit gcc github github-summary gitlab-sast codequality csv"
FORMATS: Mapping[str, Renderer] = {name: LazyRenderer(name) for name in NAMES.split()}
# Formats that show the code around findings, from `body.excerpts`.
QUOTING = frozenset({"html"})
# Formats that show the patches of findings, from `body.patches`.
PATCHED = frozenset({"html", "markdown", "sarif", "text"})
# Formats that contain the texts of rules in the language of the run; the services that read the others expect English.
WORDED = frozenset({"html", "json", "markdown", "text"})
# The first matching suffix counts.
SUFFIXES = {
    # The names that GitLab's documentation uses.
    "gl-sast-report.json": "gitlab-sast",
    "gl-code-quality-report.json": "codequality",
    ".sarif.json": "sarif",
    ".sarif": "sarif",
    ".json": "json",
    ".md": "markdown",
    ".markdown": "markdown",
    ".txt": "text",
    ".html": "html",
    ".htm": "html",
    ".xml": "junit",
    ".csv": "csv",
}


def format_of(path: str | PurePath, default: str, suffixes: Mapping[str, str] = SUFFIXES) -> str | None:
    """Return the format for a file's suffix, `default` without a suffix, or None if the suffix is unknown."""
    name = PurePath(path).name.lower()
    return next((form for suffix, form in suffixes.items() if name.endswith(suffix)), None if "." in name else default)
