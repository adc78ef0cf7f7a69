"""The context and the limits of a local executor."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING

from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.snapshots.resources import Resources
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Run, StageProgress

BUILD_QUEUE = "build"

if TYPE_CHECKING:
    from jarvis_workers.agents.conversations.runtime import AgentRuntime


@dataclass(frozen=True, slots=True)
class RunLimits:
    """The limits of a local executor: the number of children (0 for none), and the seconds to wait for the store.

    A child is killed after `hard_limit_seconds`, or after `build_limit_seconds` with a job of the queue "build".
    """

    processes: int
    lease_seconds: float = 30.0
    tick_seconds: float = 2.0
    hard_limit_seconds: float = 300.0
    build_limit_seconds: float = 14_400.0
    patience_seconds: float = 600.0

    def job_seconds(self, queue: str) -> float:
        """Return the hard time limit of a job in a child."""
        return self.build_limit_seconds if queue == BUILD_QUEUE else self.hard_limit_seconds


@dataclass(frozen=True, slots=True)
class ExecutorContext:
    """The environment of a local executor. `clock` is monotonic; `environ` is filtered for children.

    `where` is the first line for children; `errors` is their standard error; `tell` prints a message, `show` the
    progress; `runtime` creates the agent runtime for runs with conversations.
    """

    store: Store
    resources: Resources
    where: Mapping[str, str]
    environ: Mapping[str, str]
    clock: Callable[[], float]
    errors: IO[bytes]
    tell: Callable[[str], None]
    show: Callable[[Run, list[StageProgress]], None] = field(default=lambda _run, _stages: None)
    runtime: Callable[[], "AgentRuntime"] | None = None

    @property
    def blobs(self) -> Blobs:
        """The blob store of the resources."""
        return self.resources.blobs
