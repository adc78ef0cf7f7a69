"""What a command works on and with, and how."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING

from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.snapshots.resources import Resources
from jarvis_workers.store.engine import Store
from jarvis_workers.store.runs import Run
from jarvis_workers.store.stages import StageProgress

if TYPE_CHECKING:
    from jarvis_workers.conversations.runtime import AgentRuntime


@dataclass(frozen=True, slots=True)
class RunLimits:
    """How a command works: `processes` children, 0 for none; `patience_seconds` without a store before it gives up."""

    processes: int
    lease_seconds: float = 30.0
    tick_seconds: float = 2.0
    hard_limit_seconds: float = 300.0
    patience_seconds: float = 600.0


@dataclass(frozen=True, slots=True)
class ExecutorContext:
    """What a command works on and with. `clock` is monotonic; `environ` is what children may see a part of.

    `talks` opens what conversations share, when a run has any.
    """

    store: Store
    resources: Resources
    where: Mapping[str, str]
    environ: Mapping[str, str]
    clock: Callable[[], float]
    errors: IO[bytes]
    tell: Callable[[str], None]
    show: Callable[[Run, list[StageProgress]], None] = field(default=lambda _run, _stages: None)
    talks: Callable[[], "AgentRuntime"] | None = None

    @property
    def blobs(self) -> Blobs:
        """The blobs among the resources."""
        return self.resources.blobs
