"""The driver of a conversation with a person: effects in an event loop, questions at the terminal between them.

Ctrl-C cancels the running effect and becomes an `Interrupted` in the conversation; at a question it does so as well,
unless the question is the last one: then KeyboardInterrupt leaves the driver.
"""

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol, TypeVar, cast

from jarvis_workers.agents.loop.drivers import AgentWorld, perform_async
from jarvis_workers.agents.loop.effects import Ask, RunTool, Want
from jarvis_workers.agents.loop.events import AFTER_TOOL_CALL, TOOL_FILTERED, EventBus
from jarvis_workers.agents.loop.plugins import after_tool_callbacks
from jarvis_workers.agents.tools.tool import Tool, Toolbox, ToolOutcome
from jarvis_workers.assistant.answer_display import AnswerText
from jarvis_workers.assistant.person import AskPerson, Confirm, Decision, Interrupted, ShowCall, Turn
from jarvis_workers.errors import ModelError
from jarvis_workers.models.platforms.protocol import Platform, Reply

T = TypeVar("T")


class Person(Protocol):
    """The person at the terminal; both methods may raise KeyboardInterrupt (Ctrl-C) and EOFError."""

    def ask(self, question: str) -> str:
        """Return a text, "" for no answer."""

    def confirm(self, call: str, base: str | None) -> Decision:
        """Return whether a call may run; "always" only if `base` names what it approves."""


class Display(Protocol):
    """What is shown while a turn runs."""

    def show_text(self, text: str) -> None:
        """Show a piece of an answer; "" at its end."""

    def show_restart(self) -> None:
        """Tell that the answer so far was cut, and begins again."""

    def show_interrupt(self) -> None:
        """Begin a line after Ctrl-C, which the terminal may have echoed."""

    def show_call(self, name: str, arguments: Mapping[str, Any]) -> None:
        """Show that a tool runs."""

    def show_outcome(self, name: str, outcome: ToolOutcome) -> None:
        """Show the result of a tool."""


class ChatDriver:
    """Drives turns; `stop_tool` is called when a running tool is interrupted. `hidden` tools are not shown."""

    def __init__(
        self,
        platform: Platform,
        tools: Toolbox,
        bus: EventBus,
        person: Person,
        display: Display,
        stop_tool: Callable[[], None],
        hidden: Collection[Tool] = (),
    ) -> None:
        self._hidden = [tool.name for tool in hidden]
        self._person, self._display, self._stop_tool = person, display, stop_tool
        self._world = AgentWorld(platform, tools.plus(*hidden), bus=bus, on_text=self._on_text)
        self._runner = asyncio.Runner()
        self._answer = AnswerText()
        self._has_text = False

    def close(self) -> None:
        self._runner.close()

    def drive(self, talk: Turn[T]) -> T:
        """Drive a conversation to its end, and return its result or raise its exception."""
        try:
            want = next(talk)
            while True:
                try:
                    answer = self._perform(want)
                except (ModelError, Interrupted) as error:
                    want = talk.throw(error)
                else:
                    want = talk.send(answer)
        except StopIteration as end:
            return cast(T, end.value)

    def _perform(self, want: Want | AskPerson | Confirm | ShowCall) -> Any:
        if isinstance(want, ShowCall):
            return self._display.show_call(want.name, want.arguments)
        try:
            if isinstance(want, AskPerson):
                return self._person.ask(want.question)
            if isinstance(want, Confirm):
                return self._person.confirm(want.call, want.base)
            if isinstance(want, RunTool):
                return self._run(want)
            answer = self._runner.run(perform_async(want, self._world))
        except KeyboardInterrupt:
            if isinstance(want, AskPerson) and want.last:
                raise
            self._end_answer()
            self._display.show_interrupt()
            raise Interrupted from None
        if isinstance(want, Ask) and not want.aside:
            self._complete(cast(Reply, answer))
        return answer

    def _run(self, want: RunTool) -> ToolOutcome:
        if want.name in self._hidden:
            return cast(ToolOutcome, self._runner.run(perform_async(want, self._world)))
        self._display.show_call(want.name, want.arguments)
        try:
            outcome = cast(ToolOutcome, self._runner.run(perform_async(want, self._world)))
        except KeyboardInterrupt:
            self._stop_tool()
            raise
        self._display.show_outcome(want.name, outcome)
        return outcome

    def _on_text(self, text: str | None) -> None:
        if text is None:
            self._answer = AnswerText()
            self._display.show_restart()
            return
        self._has_text = True
        self._show(self._answer.add(text))

    def _complete(self, reply: Reply) -> None:
        """Show the whole answer of a platform that does not stream."""
        if not self._has_text and reply.content:
            self._show(self._answer.add(reply.content))
        self._end_answer()

    def _end_answer(self) -> None:
        self._show(self._answer.end())
        if self._has_text:
            self._display.show_text("")
        self._answer, self._has_text = AnswerText(), False

    def _show(self, text: str) -> None:
        if text:
            self._display.show_text(text)


def open_bus(callbacks: Iterable[str], on_filtered: Callable[[], None]) -> EventBus:
    """Return the bus of a conversation, with the callbacks of the user in these directories."""
    bus = EventBus()
    for listener in after_tool_callbacks(map(Path, callbacks)):
        bus.subscribe(AFTER_TOOL_CALL, listener)
    bus.subscribe(TOOL_FILTERED, lambda **_: on_filtered())
    return bus
