"""What a conversation shows: the text of answers as it arrives, one line per tool call and result, notices.

Everything that a model or a tool wrote is shown without control characters.
"""

import shutil
import textwrap
import unicodedata
from collections.abc import Mapping
from typing import Any, TextIO

from jarvis_cli.kit.colour import use_colour
from jarvis_cli.kit.terminal_text import harmless
from jarvis_workers.agents.tools.tool import ToolOutcome
from jarvis_workers.words import ENGLISH

DIM, PLAIN = "\x1b[2m", "\x1b[0m"
WIDTH_MIN = 20
CALL, DONE, FAILED = "* ", "  ", "! "
CUT = "…"


class TerminalDisplay:
    """Writes to a stream, usually a terminal of any width; without `shows_answers` only calls and notices."""

    def __init__(self, stream: TextIO, *, shows_answers: bool = True, is_quiet: bool = False) -> None:
        self._stream, self._shows_answers, self._is_quiet = stream, shows_answers, is_quiet
        self._has_colour = use_colour(stream)
        self._is_at_start = True

    def show_text(self, text: str) -> None:
        """Show a piece of an answer; "" at its end."""
        if not self._shows_answers:
            return
        if text:
            self._write(harmless(text))
        elif not self._is_at_start:
            self._write("\n")

    def show_restart(self) -> None:
        self.tell("[the connection was lost; the answer begins again]")

    def show_interrupt(self) -> None:
        self._write("\n")

    def show_call(self, name: str, arguments: Mapping[str, Any]) -> None:
        """Show a call in one line."""
        values = " ".join(f"{key}={value}" for key, value in arguments.items())
        self._write_line(f"{CALL}{name} {values}")

    def show_outcome(self, name: str, outcome: ToolOutcome) -> None:
        """Show the first line of a result, and how many more there are."""
        first, *rest = outcome.text().strip().split("\n")
        more = f" (+{ENGLISH.count(len(rest), 'line')})" if rest else ""
        self._write_line(f"{DONE if outcome.success else FAILED}{first or 'no output'}", more)

    def tell(self, text: str) -> None:
        """Show a notice on lines of its own."""
        self._start_line()
        lines = (_wrapped(line) for line in harmless(text).split("\n"))
        self._write(self._dim("\n".join(lines)) + "\n")

    def _write_line(self, text: str, end: str = "") -> None:
        self._start_line()
        self._write(self._dim(fit(harmless(text, layout=""), _width() - len(end)) + end) + "\n")

    def _dim(self, text: str) -> str:
        return f"{DIM}{text}{PLAIN}" if self._has_colour else text

    def _start_line(self) -> None:
        if not self._is_at_start:
            self._write("\n")

    def _write(self, text: str) -> None:
        if not self._is_quiet:
            self._stream.write(text)
            self._stream.flush()
            self._is_at_start = text.endswith("\n")


def _width() -> int:
    return max(shutil.get_terminal_size().columns, WIDTH_MIN) - 1


def _wrapped(line: str) -> str:
    """Break a line between words; one that fits, and white space in it, stays."""
    return (
        textwrap.fill(line, _width(), break_long_words=False, break_on_hyphens=False) if len(line) > _width() else line
    )


def fit(text: str, width: int) -> str:
    """Return the start of a text that fits into `width` columns; East Asian wide characters take two."""
    used = 0
    for place, letter in enumerate(text):
        used += 2 if unicodedata.east_asian_width(letter) in "WF" else 1
        if used > width:
            return _without_last(text[:place], width) + CUT
    return text


def _without_last(text: str, width: int) -> str:
    """Leave a column for the mark of the cut."""
    columns = sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)
    return text if columns < width else text[:-1]
