"""Execute `jarvis agent` as a conversation: at a terminal, or for one task without a person."""

import shutil
import signal
import sys
import textwrap
import unicodedata
from collections.abc import Mapping
from pathlib import Path
from types import FrameType
from typing import Any, TextIO

import typer

from jarvis_cli.kit import exits
from jarvis_cli.kit.colour import use_colour
from jarvis_cli.kit.status_output import interruptible
from jarvis_cli.kit.terminal_text import for_stdout, harmless
from jarvis_workers.agents.tools.tool import ToolOutcome
from jarvis_workers.assistant.chat.chat import Chat, open_chat
from jarvis_workers.assistant.chat.chat_agent import ChatOptions
from jarvis_workers.assistant.chat.chat_inputs import Inputs
from jarvis_workers.assistant.chat.definitions import built_in_definitions, load_definition
from jarvis_workers.assistant.chat.session_store import remove_or_tell
from jarvis_workers.assistant.commands.agent_options import AgentCommand
from jarvis_workers.assistant.commands.chat_terminal import Nobody, TerminalPerson, open_person
from jarvis_workers.assistant.commands.task_text import read_task
from jarvis_workers.assistant.definition_file import DefinitionFile
from jarvis_workers.assistant.input_handlers import PersonText
from jarvis_workers.errors import UsageError
from jarvis_workers.runs.sources import is_address
from jarvis_workers.settings import Settings, load_settings
from jarvis_workers.words import ENGLISH

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


HUNG_UP, TERMINATED = 129, 143
AGAIN = "Ctrl-C again saves the session and quits; Ctrl-D quits as well"


def converse(request: AgentCommand) -> int:
    """Run a conversation, or one task in this process; return the exit code."""
    if request.definitions:
        for one in built_in_definitions():
            typer.echo(f"{one.kind:<12} {one.name:<12} {one.description}")
        return exits.DONE
    settings = load_settings(request.setting_overrides, directory=Path.cwd())
    definition = _definition(request)
    has_person = _has_person(request, settings, definition)
    if request.of_job:
        raise UsageError(
            f"{request.of_job[0]} is for a task that runs as a job; give -T without options of conversations"
        )
    if is_address(request.path):
        raise UsageError(f"-p {request.path}: a conversation works on a local directory; clone it first")
    task = read_task(request.task) if request.task is not None else None
    options = ChatOptions(
        root=Path(request.path).resolve(),
        definition=definition,
        group=request.group,
        tool_group=request.tool_group,
        has_person=has_person,
        restore=request.restore,
        routine=request.routine or "",
    )
    if not has_person:
        display = TerminalDisplay(sys.stderr, shows_answers=False, is_quiet=request.quiet)
        return _run_task(settings, options, display, task or "")
    display = TerminalDisplay(sys.stdout)
    with (
        open_person(settings.data_dir, options.root) as person,
        open_chat(settings, options, person, display, display.tell) as chat,
    ):
        return _Conversation(chat, person, display).run(task)


def _definition(request: AgentCommand) -> DefinitionFile:
    definition = load_definition(request.config)
    if definition.agent_type == "code":
        raise UsageError(
            f'{request.config}: an agent of the type "code" changes files; run it with: jarvis code -r TASK'
        )
    if not request.disable_methodology_analysis:
        return definition
    return definition.model_copy(update={"use_methodology": False, "use_analysis": False})


def _has_person(request: AgentCommand, settings: Settings, definition: DefinitionFile) -> bool:
    """Return whether a person can be asked. Raises UsageError if there is neither a task nor a person."""
    refuses = request.non_interactive or settings.non_interactive or definition.non_interactive
    if request.interactive and refuses:
        raise UsageError("--interactive cannot be combined with non-interactive mode")
    if request.routine and request.task is None:
        raise UsageError("--routine needs a task; give it with -T")
    if request.task is not None:
        return request.interactive
    if refuses:
        raise UsageError("no task: non-interactive mode needs one; give it with -T")
    if not request.interactive and not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("no task: give one with -T, or run this at a terminal for a conversation")
    return True


def _run_task(settings: Settings, options: ChatOptions, display: TerminalDisplay, task: str) -> int:
    with open_chat(settings, options, Nobody(), display, display.tell) as chat:
        display.tell(chat.start_line)
        inputs = Inputs(chat, Nobody(), display, display.tell)
        result = inputs.run_turn(PersonText(task))
        if result is None:
            return exits.INCOMPLETE
        typer.echo(for_stdout(result.text))
        remove_or_tell(chat.store, display.tell)
        return exits.DONE


class _Conversation:
    """The loop of a conversation at a terminal."""

    def __init__(self, chat: Chat, person: TerminalPerson, display: TerminalDisplay) -> None:
        self._chat, self._person, self._display = chat, person, display
        self._inputs = Inputs(chat, person, display, display.tell)

    def run(self, task: str | None) -> int:
        """Read and handle inputs until the end; the session is saved unless the person quits."""
        self._display.tell(self._chat.start_line)
        new_line = "Alt-Enter begins a line" if self._person.has_keys else "a blank line ends an input"
        self._display.tell(f"{self._inputs.overview}; {new_line}")
        if (self._chat.options.root / ".git").exists():
            self._display.tell("this conversation changes no files; an agent that does: jarvis code -r TASK")
        with interruptible(_leave):
            try:
                if task is not None:
                    self._inputs.run_turn(PersonText(task))
                while self._handle_next():
                    pass
            except EOFError:
                self._keep()
            except OSError:  # The terminal went away, and its signal comes later.
                self._keep()
                return HUNG_UP
            except (KeyboardInterrupt, SystemExit):
                self._keep()
                raise
        return exits.DONE

    def _handle_next(self) -> bool:
        """Read an input and handle it; a first Ctrl-C at the prompt explains itself, a second one is raised."""
        try:
            text = self._person.read()
        except KeyboardInterrupt:
            self._display.tell(AGAIN)
            text = self._person.read()
        try:
            return self._inputs.handle(text)
        except UsageError as problem:
            self._display.tell(str(problem))
            return True

    def _keep(self) -> None:
        """Save the session, and say how it continues, if the terminal is still there."""
        self._chat.save()
        if self._chat.store.path.exists():
            try:
                self._display.tell(f"\nsaved: {self._chat.store.path}; continue with: jarvis agent --restore-session")
            except OSError:
                return


def _leave(number: int, _: FrameType | None) -> None:
    """End the command in order if its terminal goes away, or if it is terminated."""
    raise SystemExit(HUNG_UP if number == signal.SIGHUP else TERMINATED)
