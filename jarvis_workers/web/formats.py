"""Formatting of values in pages: escaping, visible forms of invisible characters, readable numbers and times."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

from flask import Flask, g, request
from jinja2 import StrictUndefined

from jarvis_workers.escape import visible
from jarvis_workers.markup import Html, in_lines
from jarvis_workers.sec.report.fired_rules import finding_name, finding_title, rule_of
from jarvis_workers.web.context import context


def install_formats(app: Flask) -> None:
    """Configure the templates; call this before anything else uses them.

    Undefined names are errors, and all untrusted text is escaped.
    """
    # The first use creates the environment; options set later have no effect.
    app.jinja_options = {"undefined": StrictUndefined, "finalize": _finalize, "trim_blocks": True}
    app.jinja_env.filters.update(
        lines=_lines,
        number=_number,
        when=format_time,
        money=_money,
        duration=format_duration,
        iso=_iso,
        headline=finding_title,
        rule=rule_of,
        label=finding_name,
    )
    app.jinja_env.globals.update(address=_address)

    @app.context_processor
    def common() -> dict[str, Any]:
        return {"identity": getattr(g, "identity", None), "now": context().store.now}


def _finalize(value: object) -> object:
    """Make control characters and direction marks visible in file names, code and prose."""
    return visible(value) if type(value) is str else value


def _lines(text: str) -> Html:
    return in_lines(text)


def _number(value: float | int | None) -> str:
    return "–" if value is None else f"{value:,}"


def _money(value: float | None) -> str:
    if value is None:
        return "unknown: no prices"
    return f"${value:,.4f}" if value < 1 else f"${value:,.2f}"


def _iso(moment: float) -> str:
    return datetime.fromtimestamp(moment, UTC).isoformat(timespec="seconds")


def format_time(moment: float | None) -> str:
    """Return a time in UTC, to the minute."""
    return "–" if moment is None else f"{datetime.fromtimestamp(moment, UTC):%Y-%m-%d %H:%M}"


def format_duration(seconds: float | None) -> str:
    """Return a duration in its two largest units."""
    if seconds is None:
        return "–"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def _address(**changes: object) -> str:
    """Return the address of this page with some parameters changed; a parameter with the value None is removed."""
    parameters: Mapping[str, str] = request.args.to_dict()
    merged = {**parameters, **{name: None if value is None else str(value) for name, value in changes.items()}}
    query = urlencode({name: value for name, value in merged.items() if value and name != "token"})
    return f"{request.path}?{query}" if query else request.path
