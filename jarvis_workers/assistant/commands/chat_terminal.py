"""The person at the terminal: inputs of several lines, questions and confirmations.

With prompt_toolkit, lines can be edited, and inputs are in a history file; without it, a blank line ends an input.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, Protocol

from jarvis_cli.kit.terminal_text import harmless
from jarvis_workers.extras import is_installed
from jarvis_workers.private_files import make_private_directory, touch_private

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
