"""Colour on a terminal: which streams take it, and how a line of a report is painted.

The eight colours are those of the user's theme; as with compilers, severe is red and what follows magenta and cyan,
which read well on dark and on light backgrounds.  NO_COLOR and FORCE_COLOR are as in https://no-color.org and
https://force-color.org.
"""

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from jarvis_workers.sec.report.text import Span

__all__ = ["paint", "wants_colour"]

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


def wants_colour(stream: TextIO, environ: Mapping[str, str] = os.environ) -> bool:
    """Tell whether escape sequences are welcome; NO_COLOR wins over FORCE_COLOR, that over what the stream is."""
    if environ.get("NO_COLOR"):
        return False
    return bool(environ.get("FORCE_COLOR")) or (stream.isatty() and environ.get("TERM") != "dumb")


def paint(line: "Iterable[Span]") -> str:
    """Return a line with the escape sequences of its roles."""
    return "".join(f"\x1b[{SGR[span.role]}m{span.text}\x1b[0m" if span.role in SGR else span.text for span in line)
