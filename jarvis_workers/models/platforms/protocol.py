"""Value types of a conversation with a model, and the interface of a provider.

This module is independent of the wire format: `request.py` serializes requests, and each API (`apis.py`) has its own
form of messages, replies and streams.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    from jarvis_workers.models.platforms.profiles import Profile


Role = Literal["system", "user", "assistant", "tool"]
# Receives the text of an answer in pieces; None means that the answer was cut, and begins again.
OnText = Callable[[str | None], None]
WHOLE = frozenset({"stop", "tool_calls", "function_call"})
# The model refused to answer, or the provider's content filter did ("sensitive": that of Zhipu).
REFUSAL = "refusal"
REFUSALS = frozenset({REFUSAL, "content_filter", "sensitive"})


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call as written by the model; `arguments` is text that may or may not be JSON."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Message:
    """One message; `call_id` is the call that a tool message answers.

    `reasoning_items` is the model's reasoning as JSON in the form of its API, which may be encrypted or signed.
    """

    role: Role
    content: str
    calls: tuple[ToolCall, ...] = ()
    call_id: str | None = None
    reasoning: str | None = None
    reasoning_items: str | None = None


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """The description of a tool for a model; `parameters` is a JSON schema, `reads_only` a tool without any effect."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    reads_only: bool = False


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """Token counts; `cached` and `cache_writes` are parts of `prompt`, `reasoning` is part of `completion`."""

    prompt: int = 0
    completion: int = 0
    cached: int = 0
    reasoning: int = 0
    cache_writes: int = 0

    @property
    def total(self) -> int:
        return self.prompt + self.completion

    def __add__(self, other: "TokenUsage") -> "TokenUsage":
        return TokenUsage(
            self.prompt + other.prompt,
            self.completion + other.completion,
            self.cached + other.cached,
            self.reasoning + other.reasoning,
            self.cache_writes + other.cache_writes,
        )


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """A request; messages before index `turn` belong to earlier turns, `schema` is the JSON schema of the answer.

    `seconds` is the time limit including retries and waits; `retries` the maximum number of retries; `body` the
    serialized request if it already exists. `estimated` is the estimated number of tokens, 0 if unknown. `temperature`
    replaces that of the profile, if it has one. An `escalated` request is for a stronger model. With `on_text` the
    answer is streamed; it is no part of the request.
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
    temperature: float | None = None
    escalated: bool = False
    on_text: OnText | None = field(default=None, repr=False, compare=False)

    @property
    def has_readers(self) -> bool:
        """Whether a tool has no effect, so that an answer may call several."""
        return any(spec.reads_only for spec in self.tools)


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer and its metadata; `tries` is the number of times the request was sent, 0 for a cached answer.

    A `cost` of None is unknown, because the model has no prices.
    """

    content: str = ""
    calls: tuple[ToolCall, ...] = ()
    reasoning: str | None = None
    finish: str | None = None
    usage: TokenUsage = field(default=TokenUsage())
    cost: float | None = None
    seconds: float = 0.0
    tries: int = 1
    model: str = ""
    reasoning_items: str | None = None

    @property
    def is_whole(self) -> bool:
        """Whether the model stopped by itself, not because of a length limit or a content filter."""
        return self.finish in WHOLE

    @property
    def is_refused(self) -> bool:
        """Whether the model or a content filter refused the answer."""
        return self.finish in REFUSALS

    def remembered(self) -> "Reply":
        """Return the answer as a cached one: without cost, time and tries."""
        return replace(self, cost=0.0, seconds=0.0, tries=0)


class Platform(Protocol):
    """A model provider, as seen by the agent loop."""

    name: str
    model: str
    profile: "Profile"

    async def ask_async(self, request: ModelRequest) -> Reply:
        """Return the answer without blocking the event loop; raises ModelError."""


def fields_of(value: Any) -> dict[str, Any]:
    """Return the fields of a value with slots, uncopied: `asdict` makes deep copies, which is slow."""
    return {name: getattr(value, name) for name in value.__slots__}


def record_of(reply: Reply) -> dict[str, Any]:
    """Return a reply as a JSON object for storage; `reply_from` is the inverse."""
    return fields_of(reply) | {"calls": [*map(fields_of, reply.calls)], "usage": fields_of(reply.usage)}


def reply_from(value: Mapping[str, Any]) -> Reply:
    """Return the reply that a JSON object from `record_of` represents."""
    calls = tuple(ToolCall(**call) for call in value["calls"])
    return Reply(**{**value, "calls": calls, "usage": TokenUsage(**value["usage"])})


# Estimate token counts without a tokenizer, which would have to download its vocabulary.

LETTERS = 7
PIECE = re.compile(rf" ?+[A-Za-z]{{1,{LETTERS}}}+|\d{{1,3}}+| ?+[!-/:-@\[-`{{-~]{{1,2}}+|\s{{1,16}}+|[^\x00-\x7f]")
# The tokens of a message's role and separators in chat formats.
PER_MESSAGE = 4


def estimate(text: str) -> int:
    """Return the estimated number of tokens of a text."""
    return len(PIECE.findall(text))


def estimate_message(message: Message) -> int:
    """Return the estimated number of tokens of a message."""
    calls = sum(estimate(call.arguments) + estimate(call.name) for call in message.calls)
    return PER_MESSAGE + estimate(message.content) + calls


def estimate_tools(specs: Iterable[ToolSpec]) -> int:
    """Return the estimated number of tokens of tool descriptions."""
    return sum(estimate(f"{spec.name} {spec.description} {spec.parameters}") for spec in specs)


def estimate_request(request: ModelRequest) -> int:
    """Return the estimated number of tokens of a request, from its conversation if available, else computed."""
    return request.estimated or sum(map(estimate_message, request.messages)) + estimate_tools(request.tools)


def with_estimated_usage(reply: Reply, request: ModelRequest) -> Reply:
    """Return the reply with estimates for token counts that the server did not report, so that budgets still apply."""
    usage = reply.usage
    if usage.prompt and usage.completion:
        return reply
    answer = Message("assistant", reply.content + (reply.reasoning or ""), calls=reply.calls)
    prompt, completion = usage.prompt or estimate_request(request), usage.completion or estimate_message(answer)
    return replace(reply, usage=replace(usage, prompt=prompt, completion=completion))


# Names of tools towards a provider, which allows 64 letters, digits, "_" and "-": dots become "__".

LETTERS_MAX, HASH_LETTERS = 64, 8
ALLOWED = re.compile(rf"[A-Za-z0-9_-]{{1,{LETTERS_MAX}}}")


def wire_name(name: str) -> str:
    """Return the name of a tool towards a provider."""
    if ALLOWED.fullmatch(name) and "__" not in name:
        return name
    short = name.replace(".", "__")
    if ALLOWED.fullmatch(short) and "__" not in name and short.replace("__", ".") == name:
        return short
    cut = re.sub(r"[^A-Za-z0-9_-]", "_", short)[: LETTERS_MAX - HASH_LETTERS - 1]
    return f"{cut}_{sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:HASH_LETTERS]}"


def own_names(calls: Iterable[ToolCall], tools: Iterable[ToolSpec]) -> tuple[ToolCall, ...]:
    """Return the calls of an answer with the names that this program uses; other names stay as they are."""
    names = {wire_name(tool.name): tool.name for tool in tools}
    return tuple(replace(call, name=names.get(call.name, call.name)) for call in calls)
