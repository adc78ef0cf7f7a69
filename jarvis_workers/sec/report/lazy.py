"""Renderers that are imported when called: scanning children build the body of a report, but render nothing."""

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

from jarvis_workers.sec.report_document import ReportBody

Part = Mapping[str, Any]


def render_codequality(body: ReportBody, run: Part) -> Iterator[str]:
    """Render Code Climate issues; see `codequality`."""
    return _render("codequality", body, run)


def render_csv(body: ReportBody, run: Part) -> Iterator[str]:
    """Render CSV; see `csv`."""
    return _render("csv", body, run)


def render_gcc(body: ReportBody, run: Part) -> Iterator[str]:
    """Render compiler warnings; see `gcc`."""
    return _render("gcc", body, run)


def render_github(body: ReportBody, run: Part) -> Iterator[str]:
    """Render workflow commands; see `github`."""
    return _render("github", body, run)


def render_github_summary(body: ReportBody, run: Part) -> Iterator[str]:
    """Render a job summary; see `github_summary`."""
    return _render("github_summary", body, run)


def render_gitlab_sast(body: ReportBody, run: Part) -> Iterator[str]:
    """Render GitLab's SAST report; see `gitlab_sast`."""
    return _render("gitlab_sast", body, run)


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
