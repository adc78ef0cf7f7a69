"""Colour on a terminal: which streams support it, and the styles of report lines.

The eight colours are those of the user's theme; as with compilers, high severity is red and medium severity magenta,
which are readable on dark and light backgrounds. NO_COLOR and FORCE_COLOR are as in https://no-color.org and
https://force-color.org.
"""

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from jarvis_workers.sec.report.text import Span

SGR = {
    "path": "1",
    "high": "1;31",
    "medium": "1;35",
    "low": "36",
    "rule": "2",
    "code": "2",
    "alarm": "1;31",
    "strong": "1",
}


def use_colour(stream: TextIO, environ: Mapping[str, str] = os.environ) -> bool:
    """Return whether to write escape sequences: NO_COLOR, then FORCE_COLOR, then the kind of stream decides."""
    if environ.get("NO_COLOR"):
        return False
    return bool(environ.get("FORCE_COLOR")) or (stream.isatty() and environ.get("TERM") != "dumb")


def paint(line: "Iterable[Span]") -> str:
    """Return a line with escape sequences for the roles of its spans."""
    return "".join(f"\x1b[{SGR[span.role]}m{span.text}\x1b[0m" if span.role in SGR else span.text for span in line)
