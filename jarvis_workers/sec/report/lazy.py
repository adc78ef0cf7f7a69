"""Renderers that are imported when called: scanning children build the body of a report, but render nothing."""

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

from jarvis_workers.sec.report_document import ReportBody

Part = Mapping[str, Any]


def render_html(body: ReportBody, run: Part) -> Iterator[str]:
    """Render HTML; see `html.page`."""
    return _render("html", body, run)


def render_json(body: ReportBody, run: Part) -> Iterator[str]:
    """Render JSON; see `json`."""
    return _render("json", body, run)


def render_junit(body: ReportBody, run: Part) -> Iterator[str]:
    """Render JUnit XML; see `junit`."""
    return _render("junit", body, run)


def render_markdown(body: ReportBody, run: Part) -> Iterator[str]:
    """Render Markdown; see `markdown`."""
    return _render("markdown", body, run)


def render_sarif(body: ReportBody, run: Part, **limits: int) -> Iterator[str]:
    """Render SARIF; see `sarif`."""
    return _render("sarif", body, run, **limits)


def render_text(body: ReportBody, run: Part) -> Iterator[str]:
    """Render text; see `text`."""
    return _render("text", body, run)


def _render(module: str, body: ReportBody, run: Part, **limits: int) -> Iterator[str]:
    renderer = getattr(import_module(f"jarvis_workers.sec.report.{module}"), f"render_{module}")
    pieces: Iterator[str] = renderer(body, run, **limits)
    return pieces
