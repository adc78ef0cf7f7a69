"""The terminal of a conversation: the person there, with inputs, questions and confirmations, and what is shown.

With prompt_toolkit, lines can be edited, and inputs are in a history file; without it, a blank line ends an input.
"""

import shutil
import sys
import textwrap
import unicodedata
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, Protocol, TextIO

from jarvis_cli.kit.colour import use_colour
from jarvis_cli.kit.terminal_text import harmless
from jarvis_workers.agents.tools.tool import ToolOutcome
from jarvis_workers.extras import is_installed
from jarvis_workers.private_files import make_private_directory, touch_private
from jarvis_workers.words import ENGLISH

Decision = Literal["yes", "no", "always"]
PROMPT = "> "
HISTORY = "history"


class TerminalPerson(Protocol):
    """The person at a terminal; all methods may raise EOFError and KeyboardInterrupt."""

    has_keys: bool

    def read(self) -> str:
        """Return the next input, of one or more lines."""

    def ask(self, question: str) -> str:
        """Return the answer to a question, "" for none."""

    def confirm(self, call: str, base: str | None) -> Decision:
        """Return whether a call may run."""


class Nobody:
    """Nobody is there: nothing is answered or confirmed."""

    def ask(self, question: str) -> str:
        return ""

    def confirm(self, call: str, base: str | None) -> Decision:
        return "no"


class PlainPerson:
    """Reads lines of standard input."""

    has_keys = False

    def read(self) -> str:
        """Return an input; a blank line ends it, a command is one line."""
        lines = [_line(PROMPT)]
        while lines[-1].strip() and not lines[0].startswith(("/", "!")):
            try:
                lines.append(_line(". "))
            except EOFError:
                break
        return "\n".join(lines).strip()

    def ask(self, question: str) -> str:
        return _line(f"{_last_line(question)} ").strip()

    def confirm(self, call: str, base: str | None) -> Decision:
        return _decision(self.ask(_confirmation(call, base)), base)


class EditingPerson:
    """Reads inputs with prompt_toolkit; Enter ends an input, Alt-Enter begins a line."""

    has_keys = True

    def __init__(self, history: Path, root: Path) -> None:
        from prompt_toolkit import PromptSession
        from prompt_toolkit.history import FileHistory

        from jarvis_workers.assistant.commands.chat_completion import completer  # noqa: PLC0415

        self._inputs: Any = PromptSession(
            history=FileHistory(str(history)), multiline=True, key_bindings=_keys(), completer=completer(root)
        )
        self._questions: Any = PromptSession()

    def read(self) -> str:
        return str(self._inputs.prompt(PROMPT, prompt_continuation=". ")).strip()

    def ask(self, question: str) -> str:
        return str(self._questions.prompt(f"{_last_line(question)} ")).strip()

    def confirm(self, call: str, base: str | None) -> Decision:
        return _decision(self.ask(_confirmation(call, base)), base)


@contextmanager
def open_person(data: Path, root: Path) -> Iterator[TerminalPerson]:
    """Yield the person at this terminal, who works on `root`; the history of inputs is a private file in `data`."""
    if not sys.stdin.isatty() or not sys.stdout.isatty() or not is_installed("prompt_toolkit"):
        yield PlainPerson()
        return
    make_private_directory(data)
    touch_private(data / HISTORY)
    yield EditingPerson(data / HISTORY, root)


def _line(prompt: str) -> str:
    sys.stdout.write(prompt)
    sys.stdout.flush()
    line = sys.stdin.readline()
    if not line:
        raise EOFError
    return line.rstrip("\r\n")


def _last_line(question: str) -> str:
    """Write all lines of a question but the last, which is the prompt, and return that."""
    before, newline, last = harmless(question).rpartition("\n")
    sys.stdout.write(before + newline)
    sys.stdout.flush()
    return last


def _confirmation(call: str, base: str | None) -> str:
    choices = f"y/N/a (a: always {base}, in this session)" if base else "y/N"
    return f"{call}\nRun it? [{choices}]"


def _decision(answer: str, base: str | None) -> Decision:
    word = answer.strip().lower()
    if base and word in ("a", "always"):
        return "always"
    return "yes" if word in ("y", "yes") else "no"


def _keys() -> Any:
    from prompt_toolkit.key_binding import KeyBindings

    keys = KeyBindings()

    @keys.add("enter")
    def accept(event: Any) -> None:
        event.current_buffer.validate_and_handle()

    @keys.add("escape", "enter")
    def begin_line(event: Any) -> None:
        event.current_buffer.insert_text("\n")

    return keys


# What a conversation shows: the text of answers as it arrives, one line per tool call and result, notices.

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
