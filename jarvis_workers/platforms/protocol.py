"""The words of a conversation with a model, and what a provider is to those who ask it.

Nothing here knows a wire format: `request.py` writes what a server reads, `replies.py` reads what it wrote.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    from jarvis_workers.platforms.profiles import Profile

Role = Literal["system", "user", "assistant", "tool"]
Hear = Callable[[str], None]
WHOLE = frozenset({"stop", "tool_calls", "function_call"})


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call as the model wrote it: `arguments` is text that may or may not be JSON."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Message:
    """One message; `call_id` says which call a tool's message answers."""

    role: Role
    content: str
    calls: tuple[ToolCall, ...] = ()
    call_id: str | None = None
    reasoning: str | None = None


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """What a model is told of a tool; `parameters` is a JSON schema."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """Tokens; `cached` is a part of `prompt`, `reasoning` a part of `completion`."""

    prompt: int = 0
    completion: int = 0
    cached: int = 0
    reasoning: int = 0

    @property
    def total(self) -> int:
        return self.prompt + self.completion

    def __add__(self, other: "TokenUsage") -> "TokenUsage":
        return TokenUsage(
            self.prompt + other.prompt,
            self.completion + other.completion,
            self.cached + other.cached,
            self.reasoning + other.reasoning,
        )


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """What is asked; messages before `turn` belong to earlier turns, `schema` is the form of a whole answer.

    `seconds` is the time left for it, tries and waits included; `retries` how often it may be sent again; `body` is
    how it is sent, if somebody has written it already. `estimated` is for how many tokens it is taken, whatever servers
    have reported; 0 where nobody has counted.
    """

    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    schema: Mapping[str, Any] | None = None
    turn: int = 0
    vote: int = 0
    seconds: float = 600
    retries: int = 3
    body: bytes | None = field(default=None, repr=False, compare=False)
    estimated: int = 0


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer, and what it took: `tries` counts every time the request was sent, 0 if it was remembered."""

    content: str = ""
    calls: tuple[ToolCall, ...] = ()
    reasoning: str | None = None
    finish: str | None = None
    usage: TokenUsage = field(default=TokenUsage())
    cost: float = 0.0
    seconds: float = 0.0
    tries: int = 1
    model: str = ""

    @property
    def is_whole(self) -> bool:
        """Whether the model came to its end by itself: "length", a filter and nothing at all are no ends."""
        return self.finish in WHOLE

    def remembered(self) -> "Reply":
        """The same answer when nobody was asked: it took no time and no money."""
        return replace(self, cost=0.0, seconds=0.0, tries=0)


class Platform(Protocol):
    """A model provider: all that the loop needs of one. Both forms raise ModelError."""

    name: str
    model: str
    profile: "Profile"

    def ask(self, request: ModelRequest, hear: Hear | None = None) -> Reply:
        """Answer; `hear` is given the text as it comes."""
        ...

    async def ask_async(self, request: ModelRequest) -> Reply:
        """Answer, and let others run meanwhile."""
        ...


def fields_of(value: Any) -> dict[str, Any]:
    """Return the fields of a value that has slots, as they are: `asdict` copies what they hold, and takes long."""
    return {name: getattr(value, name) for name in value.__slots__}


def record_of(reply: Reply) -> dict[str, Any]:
    """Return what is kept of a reply; `reply_from` turns it back."""
    return fields_of(reply) | {"calls": [*map(fields_of, reply.calls)], "usage": fields_of(reply.usage)}


def reply_from(found: Mapping[str, Any]) -> Reply:
    """Turn what `record_of` made of a reply back into it."""
    calls = tuple(ToolCall(**call) for call in found["calls"])
    return Reply(**{**found, "calls": calls, "usage": TokenUsage(**found["usage"])})
