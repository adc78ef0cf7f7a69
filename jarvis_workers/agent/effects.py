"""The words of the loop: what it wants from the world, what it was asked to do, and what came of it."""

from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

from jarvis_workers.agent.untrusted_text import Suspicion
from jarvis_workers.platforms.protocol import ModelRequest, Reply, TokenUsage
from jarvis_workers.tools.tool import Language, ToolOutcome

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Ask:
    """Ask the model; answered with a Reply, or thrown a ModelError."""

    request: ModelRequest


@dataclass(frozen=True, slots=True)
class RunTool:
    """Run a tool; answered with an Outcome. One that is not repeatable is never run twice."""

    name: str
    arguments: Mapping[str, Any]
    repeatable: bool = True
    quick: bool = False


@dataclass(frozen=True, slots=True)
class Tell:
    """Tell listeners; answered with nothing."""

    event: str
    payload: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Upload:
    """Keep a text with the provider as a file; answered with whether that worked."""

    text: str


@dataclass(frozen=True, slots=True)
class Note:
    """Log something that should not happen often; answered with nothing."""

    event: str
    facts: Mapping[str, Any]


Want = Ask | RunTool | Tell | Upload | Note
Answer = Reply | ToolOutcome | bool | None
Conversation = Generator[Want, Any, T]
Ending = Literal["answer", "mark", "report"]


@dataclass(frozen=True)
class Definition:
    """An agent as it is defined."""

    system_prompt: str
    name: str = "Jarvis"
    description: str = ""
    summary_prompt: str = ""
    auto_complete: bool = True
    need_summary: bool = False
    language: Language = "en"
    vote: int = 0


@dataclass(frozen=True)
class TaskResult:
    """What came of a task; `report` is what `submit_report` or its like handed in."""

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
