"""Execute `jarvis agent` as a conversation: at a terminal, or for one task without a person."""

import signal
import sys
from pathlib import Path
from types import FrameType

import typer

from jarvis_cli.kit import exits
from jarvis_cli.kit.status_output import interruptible
from jarvis_cli.kit.terminal_text import for_stdout
from jarvis_workers.assistant.chat.chat import Chat, open_chat
from jarvis_workers.assistant.chat.chat_agent import ChatOptions
from jarvis_workers.assistant.chat.chat_inputs import Inputs
from jarvis_workers.assistant.chat.definitions import built_in_definitions, load_definition
from jarvis_workers.assistant.chat.session_store import remove_or_tell
from jarvis_workers.assistant.commands.agent_options import AgentCommand
from jarvis_workers.assistant.commands.chat_terminal import Nobody, TerminalDisplay, TerminalPerson, open_person
from jarvis_workers.assistant.commands.task_text import read_task
from jarvis_workers.assistant.definition_file import DefinitionFile
from jarvis_workers.assistant.input_handlers import PersonText
from jarvis_workers.errors import UsageError
from jarvis_workers.runs.sources import is_address
from jarvis_workers.settings import Settings, load_settings

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
