"""Effects of the agent loop, their results, and the definition and result of a task."""

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar, cast

from jarvis_workers.agents.loop.prompts import fill
from jarvis_workers.agents.loop.untrusted_text import Suspicion
from jarvis_workers.agents.tools.tool import Language, ToolOutcome
from jarvis_workers.errors import ModelError
from jarvis_workers.models.platforms.protocol import ModelRequest, Reply, TokenUsage

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Ask:
    """Send a request to the model; the result is a Reply, or a ModelError is thrown into the loop.

    `aside` is a request outside the session, such as for a summary, whose answer is not shown to a person.
    """

    request: ModelRequest
    aside: bool = False


@dataclass(frozen=True, slots=True)
class RunTool:
    """Run a tool; the result is a ToolOutcome. A tool that is not `repeatable` is never run twice.

    The time of an `untimed` tool does not count towards the deadline of the conversation.
    """

    name: str
    arguments: Mapping[str, Any]
    repeatable: bool = True
    quick: bool = False
    untimed: bool = False


@dataclass(frozen=True, slots=True)
class Tell:
    """Notify listeners of an event; the result is None."""

    event: str
    payload: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Upload:
    """Upload a text as a file to the provider; the result is True if the upload succeeded."""

    text: str


@dataclass(frozen=True, slots=True)
class Note:
    """Log a warning about a rare event; the result is None."""

    event: str
    facts: Mapping[str, Any]


Want = Ask | RunTool | Tell | Upload | Note
Answer = Reply | ToolOutcome | bool | None
Conversation = Generator[Want, Any, T]
Ending = Literal["answer", "mark", "report", "handled"]


@dataclass(frozen=True)
class Definition:
    """The definition of an agent; `plan_depth` is the number of agents that split their tasks above it.

    The model group depends on `vote` and `escalated` (`ModelRequest`).
    """

    system_prompt: str
    name: str = "Jarvis"
    description: str = ""
    summary_prompt: str = ""
    auto_complete: bool = True
    need_summary: bool = False
    language: Language = "en"
    vote: int = 0
    escalated: bool = False
    plan_depth: int = 0
    plan_max_depth: int = 2

    def prompt(self, name: str, **values: Any) -> str:
        """Return a prompt template, filled, in the language of the agent."""
        return fill(name, language=self.language, **values)


@dataclass(frozen=True)
class TaskResult:
    """The result of a task.

    `report` is the validated report, or the result of the output handler that ended the task; None for prose.
    """

    text: str
    ending: Ending
    report: Any = None
    summary: str = ""
    tools: Mapping[str, int] = field(default_factory=dict)
    suspicions: tuple[Suspicion, ...] = ()
    asks: int = 0
    usage: TokenUsage = field(default_factory=TokenUsage)
    cost: float = 0.0
    seconds: float = 0.0
    compactions: int = 0


# Compose conversations: perform the effects of one in another way.

W = TypeVar("W")


def intercept(talk: Conversation[T], perform: Callable[[Want], Generator[W, Any, Any]]) -> Generator[W, Any, T]:
    """Run a conversation whose effects `perform` performs, one generator each; return its result.

    A ModelError of `perform` is thrown into the conversation; any other exception ends both.
    """
    try:
        want = next(talk)
        while True:
            try:
                answer = yield from perform(want)
            except ModelError as error:
                want = talk.throw(error)
            else:
                want = talk.send(answer)
    except StopIteration as end:
        return cast(T, end.value)
    finally:
        talk.close()
