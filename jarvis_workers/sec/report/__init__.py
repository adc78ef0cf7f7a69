"""Reports: one body, built once, and a format for each way to read it."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import PurePath
from typing import Any

from jarvis_workers.sec.report.body import build, every_issue, gather
from jarvis_workers.sec.report.json import json_line, render_json
from jarvis_workers.sec.report.markdown import render_markdown

__all__ = [
    "FORMATS",
    "Renderer",
    "build",
    "every_issue",
    "format_of",
    "gather",
    "json_line",
    "render_json",
    "render_markdown",
]

Renderer = Callable[[Mapping[str, Any], Mapping[str, Any]], Iterator[str]]

FORMATS: Mapping[str, Renderer] = {"json": render_json, "markdown": render_markdown}
SUFFIXES = {".json": "json", ".md": "markdown", ".markdown": "markdown"}


def format_of(path: str | PurePath, default: str) -> str:
    """Name the format that a file's suffix asks for, or `default` where it asks for none."""
    return SUFFIXES.get(PurePath(path).suffix.lower(), default)
