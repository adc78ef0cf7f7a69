"""Handle the inputs of a person in a conversation: slash commands, shell commands, and text for the model."""

import re
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from jarvis_workers.agents.loop.effects import TaskResult
from jarvis_workers.agents.tools.tool import Tool, ToolOutcome
from jarvis_workers.assistant.autonomy import LEVELS
from jarvis_workers.assistant.chat.chat import Chat
from jarvis_workers.assistant.chat.chat_driver import Display, Person
from jarvis_workers.assistant.chat.definitions import PredefinedTask, predefined_tasks
from jarvis_workers.assistant.chat.session_store import remove_or_tell
from jarvis_workers.assistant.input_handlers import PersonText, ShellCommand, SlashCommand, read_input
from jarvis_workers.assistant.person import Interrupted
from jarvis_workers.assistant.routing import SkillMeta
from jarvis_workers.errors import AgentStopped, UsageError
from jarvis_workers.paths import plain
from jarvis_workers.words import cost_text

HELP = """\
/help               this list
/tools              the tools of the agent
/skills             the skills that may be used
/tasks, /task N     predefined tasks; start one
/autonomy [LEVEL]   readonly, supervised or full
/analyze [REMARK]   what went well and badly; your remark is part of it
/cost               tokens and dollars so far
/save               save the session now
/clear              forget the conversation
/quit               end the conversation and remove its saved session (Ctrl-D: keep it)
!COMMAND            run a command in the sandbox; its output goes with your next input
@PATH[:FROM[-TO]]   add lines of a file to your input
Ctrl-C              interrupt the agent; a second time: save and quit"""


COMMANDS = tuple(re.findall(r"/([a-z]+)", HELP))
INPUT_MAX = 1_000_000
OVERVIEW = "/help /tools /cost /clear /save /quit, !COMMAND, @FILE; Ctrl-C interrupts"


@dataclass
class Inputs:
    """The inputs of one conversation; `tell` shows a line."""

    chat: Chat
    person: Person
    display: Display
    tell: Callable[[str], None]

    def handle(self, text: str) -> bool:
        """Handle an input; return whether the conversation goes on. Raises UsageError."""
        if len(text) > INPUT_MAX:
            raise UsageError(f"longer than {INPUT_MAX:,} characters; put it into a file, and name it with @PATH")
        chosen = read_input(text.encode("utf-8", "backslashreplace").decode())
        if isinstance(chosen, SlashCommand):
            return self._run_command(chosen)
        if isinstance(chosen, ShellCommand):
            self._run_shell(chosen.command)
        elif chosen.text:
            self.run_turn(chosen)
        return True

    def run_turn(self, text: PersonText) -> TaskResult | None:
        """Run a turn, and show what it took; None if there is no answer."""
        spent, began = self.chat.agent.spent, time.monotonic()
        tokens, cost, result = spent.usage.total, spent.cost, None
        try:
            result = self.chat.answer(text)
        except AgentStopped as stop:
            self.tell(f"stopped ({stop.reason}): {stop}")
        if result and result.summary:
            self.tell(result.summary)
        spent = self.chat.agent.spent
        paid = None if spent.dollars is None else spent.cost - cost
        took = f"{spent.usage.total - tokens:,} tokens, {cost_text(paid)}"
        self.tell(f"[{took}, {time.monotonic() - began:.1f} s]")
        return result

    def _run_command(self, command: SlashCommand) -> bool:
        if command.name in ("quit", "exit", "q"):
            remove_or_tell(self.chat.store, self.tell)
            return False
        commands: Mapping[str, Callable[[str], str]] = {
            "help": lambda _: HELP,
            "?": lambda _: HELP,
            "tools": lambda _: _listed(self.chat.agent.tools.tools, "no tools"),
            "skills": lambda _: _listed(self.chat.skills.metas, "no skills"),
            "tasks": lambda _: self._tasks(),
            "task": self._start_task,
            "autonomy": self._set_autonomy,
            "analyze": self._analyze,
            "cost": lambda _: self._cost(),
            "save": lambda _: self._save(),
            "clear": lambda _: self._clear(),
        }
        run = commands.get(command.name)
        try:
            says = run(command.argument) if run else f"there is no command /{plain(command.name)}; see /help"
        except UsageError as problem:
            says = str(problem)
        if says:
            self.tell(says)
        return True

    def _run_shell(self, command: str) -> None:
        if not command:
            return self.tell("write a command after the !")
        if self.chat.scripts.tier == "C":
            return self.tell("not run: no sandbox works here; see: jarvis doctor")
        if not self._confirms(f"run in the sandbox: {command}"):
            return self.tell("not run")
        try:
            outcome = self.chat.scripts.run_for_person(command)
        except KeyboardInterrupt:
            self.chat.scripts.stop()
            outcome = ToolOutcome("error", stderr="interrupted")
        self.tell(outcome.text().rstrip() or "(no output)")

    def _confirms(self, what: str) -> bool:
        """Return whether the person says yes; Ctrl-C is a no."""
        try:
            return self.person.confirm(what, None) != "no"
        except KeyboardInterrupt:
            return False

    def _tasks(self) -> str:
        tasks = self._predefined()
        lines = [f"{number}  {task.name} ({task.where})" for number, task in enumerate(tasks, 1)]
        return "\n".join([*lines, "start one with: /task N"]) if lines else "no tasks; write them in .jarvis/tasks.yaml"

    def _start_task(self, number: str) -> str:
        """Start a predefined task, after the person has seen its text and may have added to it."""
        tasks = self._predefined()
        if not number.isdecimal() or not 1 <= int(number) <= len(tasks):
            raise UsageError(
                f"/task: {plain(number) or 'nothing'} is not one of the tasks 1 to {len(tasks)}; see /tasks"
            )
        task = tasks[int(number) - 1]
        self.tell(task.text)
        if not self._confirms(f"start the task {task.name}"):
            return "not started"
        more = self.person.ask("More about it (empty: nothing):")
        self.run_turn(PersonText("\n\n".join(part for part in (task.text, more) if part)))
        return ""

    @property
    def overview(self) -> str:
        """The commands in one line, and the number of predefined tasks."""
        tasks = len(self._predefined())
        return f"{OVERVIEW}; {tasks} predefined tasks: /tasks" if tasks else OVERVIEW

    def _predefined(self) -> list[PredefinedTask]:
        return predefined_tasks(self.chat.data_dir, self.chat.options.root)

    def _set_autonomy(self, level: str) -> str:
        autonomy = self.chat.autonomy
        if level:
            chosen = next((one for one in LEVELS if one == level), None)
            if chosen is None:
                raise UsageError(f'/autonomy: "{plain(level)}" is not one of {", ".join(LEVELS)}')
            autonomy.level = chosen
            autonomy.allowed.clear()
        always = f"; always allowed: {', '.join(sorted(autonomy.allowed))}" if autonomy.allowed else ""
        return f"autonomy: {autonomy.level}{always}"

    def _analyze(self, remark: str) -> str:
        try:
            return self.chat.analyze(remark) or "there is no task to analyze, or it was analyzed before"
        except Interrupted:
            return "interrupted"

    def _cost(self) -> str:
        usage, session = self.chat.agent.spent.usage, self.chat.agent.session
        return (
            f"{usage.total:,} tokens ({usage.prompt:,} in, {usage.cached:,} of them cached, {usage.completion:,} out),"
            f" {cost_text(self.chat.agent.spent.dollars)}; the next request has about {session.tokens:,} tokens"
        )

    def _save(self) -> str:
        self.chat.save()
        return f"saved: {self.chat.store.path}"

    def _clear(self) -> str:
        self.chat.clear()
        return "the conversation is forgotten"


def _listed(entries: Iterable[Tool | SkillMeta], none: str) -> str:
    """Return names and descriptions, one a line."""
    return "\n".join(f"{one.name}: {one.description}" for one in entries) or none
