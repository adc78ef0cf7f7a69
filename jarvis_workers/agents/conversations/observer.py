"""Observers of the jobs of a process, for metrics and traces. The default observer does nothing.

No value here holds source code, prompts or answers.
"""

import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Literal

from jarvis_workers.agents.tools.tool import Toolbox, ToolOutcome
from jarvis_workers.models.platforms.protocol import TokenUsage
from jarvis_workers.models.ratelimit.policy import Limiter, MakeLimiter, RequestPermit
from jarvis_workers.store.values import Claimed

JobOutcome = Literal["done", "failed", "released", "lost"]
CallOutcome = Literal["answered", "cached", "failed"]


@dataclass(frozen=True, slots=True)
class JobExecution:
    """An execution of a job that has ended; `began` is in seconds since 1970, `size` the source bytes processed."""

    job: Claimed
    outcome: JobOutcome
    began: float
    seconds: float
    size: int = 0


@dataclass(frozen=True, slots=True)
class ObservedCall:
    """A model call that has ended; `model` is the configured one, `error` the class of the exception, if any."""

    job: Claimed
    platform: str
    model: str
    outcome: CallOutcome
    began: float
    seconds: float
    usage: TokenUsage = field(default=TokenUsage())
    cost: float | None = None
    answered_by: str = ""
    finish: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True)
class ToolExecution:
    """A tool call that has ended; `tool` is one of the agent's own tools."""

    job: Claimed
    tool: str
    state: str
    began: float
    seconds: float


class Observer:
    """Receives events of jobs, from any thread; its methods do not block or raise. This class ignores all events."""

    def job_ended(self, execution: JobExecution) -> None:
        """Called when an execution of a job has ended, successful or not."""

    def conversation_opened(self, job: Claimed) -> None:
        """Called at the start of a conversation."""

    def conversation_closed(self, job: Claimed) -> None:
        """Called at the end of a conversation."""

    def model_called(self, call: ObservedCall) -> None:
        """Called when a model has answered or failed, or when a cached answer was used."""

    def throttled(self, model: str) -> None:
        """Called when a provider has rejected a request with a 429 (too many requests)."""

    def tool_called(self, execution: ToolExecution) -> None:
        """Called when a tool has run."""

    def close(self) -> None:
        """Called before the process ends."""


NOBODY = Observer()


class Observers(Observer):
    """Forwards every event to several observers; one that cannot write, such as to a full disk, misses the event."""

    def __init__(self, observers: Sequence[Observer]) -> None:
        self._observers = observers

    def job_ended(self, execution: JobExecution) -> None:
        self._tell(lambda one: one.job_ended(execution))

    def conversation_opened(self, job: Claimed) -> None:
        self._tell(lambda one: one.conversation_opened(job))

    def conversation_closed(self, job: Claimed) -> None:
        self._tell(lambda one: one.conversation_closed(job))

    def model_called(self, call: ObservedCall) -> None:
        self._tell(lambda one: one.model_called(call))

    def throttled(self, model: str) -> None:
        self._tell(lambda one: one.throttled(model))

    def tool_called(self, execution: ToolExecution) -> None:
        self._tell(lambda one: one.tool_called(execution))

    def close(self) -> None:
        self._tell(lambda one: one.close())

    def _tell(self, event: Callable[[Observer], None]) -> None:
        for one in self._observers:
            with suppress(OSError, MemoryError):
                event(one)


class ObservedTools(Toolbox):
    """The tools of a job's agent, with each call reported to an observer."""

    def __init__(self, tools: Toolbox, job: Claimed, observer: Observer) -> None:
        super().__init__(tools.tools)
        self._job, self._observer = job, observer

    def run(self, name: str, arguments: Mapping[str, Any]) -> ToolOutcome:
        """Run one of these tools."""
        began, start = time.time(), time.monotonic()
        outcome = super().run(name, arguments)
        label = name if name in self.names else "unknown"
        seconds = time.monotonic() - start
        self._observer.tool_called(ToolExecution(self._job, label, outcome.state, began, seconds))
        return outcome


def observe_throttling(make: MakeLimiter, observer: Observer) -> MakeLimiter:
    """Return a factory of limiters that report throttled requests to the observer."""
    return lambda key, policy: _ObservedLimiter(make(key, policy), key.model, observer)


class _ObservedLimiter:
    def __init__(self, limiter: Limiter, model: str, observer: Observer) -> None:
        self._limiter, self._model, self._observer = limiter, model, observer

    @asynccontextmanager
    async def slot(self, seconds: float, tokens: int = 0) -> AsyncIterator[RequestPermit]:
        async with self._limiter.slot(seconds, tokens) as permit:
            yield _ObservedPermit(permit, self._model, self._observer)


@dataclass(frozen=True, slots=True)
class _ObservedPermit:
    permit: RequestPermit
    model: str
    observer: Observer

    def on_success(self, tokens: int) -> None:
        self.permit.on_success(tokens)

    def on_throttled(self, seconds: float | None) -> None:
        self.observer.throttled(self.model)
        self.permit.on_throttled(seconds)
