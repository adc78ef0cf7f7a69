"""Play turns without a driver: a model, tools and a person that answer from lists."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from jarvis_workers.agents.loop.effects import Ask, RunTool, Tell
from jarvis_workers.agents.tools.tool import ToolOutcome
from jarvis_workers.assistant.autonomy import Autonomy
from jarvis_workers.assistant.person import AskPerson, Confirm, Interrupted, Turn
from jarvis_workers.assistant.person_tools import make_child
from jarvis_workers.assistant.turns import TurnRules
from jarvis_workers.models.platforms.protocol import ModelRequest, Reply, TokenUsage, ToolCall

T = TypeVar("T")
CTRL_C = Interrupted()


def reply(text: str) -> Reply:
    return Reply(text, model="m", finish="stop", usage=TokenUsage(100, 20))


def call(name: str, arguments: str = "{}") -> Reply:
    return Reply("", (ToolCall("c", name, arguments),), model="m", finish="tool_calls", usage=TokenUsage(100, 20))


@dataclass
class Play:
    """The answers that are left, by kind, and what was asked for. CTRL_C in a list interrupts."""

    replies: list[Reply | Exception] = field(default_factory=list)
    outcomes: list[ToolOutcome | Exception] = field(default_factory=list)
    texts: list[str | Exception] = field(default_factory=list)
    decisions: list[str | Exception] = field(default_factory=list)
    requests: list[ModelRequest] = field(default_factory=list)
    asides: list[bool] = field(default_factory=list)
    runs: list[RunTool] = field(default_factory=list)
    questions: list[AskPerson] = field(default_factory=list)
    confirms: list[Confirm] = field(default_factory=list)
    tells: list[Tell] = field(default_factory=list)

    def drive(self, talk: Turn[T]) -> T:
        """Drive a turn to its end; every answer must have been used."""
        try:
            want = next(talk)
            while True:
                answer = self._answer(want)
                want = talk.throw(answer) if isinstance(answer, Exception) else talk.send(answer)
        except StopIteration as end:
            assert not (self.replies or self.outcomes or self.texts or self.decisions)
            result: T = end.value
            return result

    def _answer(self, want: Any) -> Any:
        if isinstance(want, Ask):
            self.asides.append(want.aside)
        lists: dict[type, tuple[list[Any], list[Any]]] = {
            Ask: (self.requests, self.replies),
            RunTool: (self.runs, self.outcomes),
            AskPerson: (self.questions, self.texts),
            Confirm: (self.confirms, self.decisions),
        }
        if type(want) not in lists:
            if isinstance(want, Tell):
                self.tells.append(want)
            return None
        seen, left = lists[type(want)]
        seen.append(want.request if isinstance(want, Ask) else want)
        return left.pop(0)


def rules(level: Any = "full", *, has_person: bool = True, child: Callable[..., Any] = make_child) -> TurnRules:
    return TurnRules(Autonomy(level), child, has_person)
