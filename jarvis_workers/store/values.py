"""What goes into the store and comes out of it, for those who hold no connection.

Light on purpose: the children that scan import this, and no database library.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, Self

AGENT_QUEUE = "agent"
ENDED_RUNS = ("done", "incomplete", "failed", "cancelled")


@dataclass(frozen=True, slots=True)
class Run:
    """A run as the store has it; `options` are those it was submitted with."""

    id: str
    kind: str
    root: str
    root_raw: bytes
    snapshot_id: str
    executor: str
    version: str
    options: dict[str, Any] = field(default_factory=dict)
    state: str = "planning"
    reason: str | None = None
    created_at: float = 0.0
    started_at: float | None = None
    ended_at: float | None = None

    @property
    def ended(self) -> bool:
        """Nothing more happens to it, unless it is retried."""
        return self.state in ENDED_RUNS


@dataclass(frozen=True, slots=True)
class SnapshotFacts:
    """What the store keeps of a snapshot; `id` is the hash of its index."""

    id: str
    files: int
    bytes: int
    not_checked: int


@dataclass(frozen=True, slots=True)
class StageProgress:
    """How far a stage is, plan jobs left out. `weight` and `weight_done` are bytes of source.

    `tokens` and `cost` (dollars) are what the answers of its conversations took, but for those that were remembered.
    """

    name: str
    state: str
    jobs: int = 0
    done: int = 0
    failed: int = 0
    running: int = 0
    files: int = 0
    bytes: int = 0
    not_checked: int = 0
    cached: int = 0
    weight: int = 0
    weight_done: int = 0
    crashes: int = 0
    cpu_seconds: float = 0.0
    tokens: int = 0
    cost: float = 0.0
    opened_at: float | None = None
    closed_at: float | None = None


class NewJob(NamedTuple):
    """A job to be planned. `input_hash` names its input: planning it twice is planning it once.

    `stage` is the one it belongs to, if that is not the stage of the job that plans it.
    """

    step: str
    queue: str
    label: str
    input_hash: str
    payload: str = "{}"
    weight: int = 0
    stage: str | None = None


class Claimed(NamedTuple):
    """A job that is ours until its lease runs out, as long as its fence is the one in the store."""

    id: int
    run_id: str
    stage: str
    step: str
    queue: str
    fence: int
    label: str
    payload: str
    attempts: int
    crashes: int


class StageJob(NamedTuple):
    """A job as later stages and the report read it; `payload` is JSON, and `result`, as `pipeline.history` reads it."""

    state: str
    reason: str | None
    label: str
    weight: int
    payload: str
    result: str | None
    files: int


class TakenBack(NamedTuple):
    """A job that was taken from a process: to be done again, unless it is given up."""

    id: int
    run_id: str
    stage: str
    label: str
    process: str | None = None
    given_up: bool = False
    fence: int = 0


class Spot(NamedTuple):
    """Where a rule fired: what a scan brings back, before descriptions are added from the rule table.

    `trail` are the steps that lead to it, as `sec/trace` writes them.
    """

    path: bytes
    pattern: str
    line: int
    confidence: float
    evidence: str
    column: int | None = None
    suppressed: str | None = None
    trail: str | None = None


class Meaning(NamedTuple):
    """What a rule that is not built in says wherever it fires: the store does not know it otherwise."""

    pattern: str
    language: str
    category: str
    cwe: int
    description: str
    suggestion: str


class NewCluster(NamedTuple):
    """Candidates that share a condition to verify; `file` is that of the first, `batch_index` counts its batches."""

    file: bytes
    batch_index: int
    verification: str
    gids: tuple[int, ...]


class NewVerdict(NamedTuple):
    """What was found out about a candidate; `status` is confirmed, dismissed, review or undecided.

    `evidence` and `commands` are JSON; `reason` says why it is none of the first two; `sandbox` is the tier that
    confined the commands.
    """

    gid: int
    status: str
    has_risk: bool | None
    preconditions: str
    trigger_path: str
    consequences: str
    suggestions: str
    evidence: str
    reason: str | None
    commands: str
    sandbox: str | None = None


class DomainResult(Protocol):
    """What a job adds to the tables of its domain; `store.domain_results` registers what writes it.

    `counts` says for the log how many rows of which sort; `decode` returns what `encode` made, once through JSON.
    """

    def counts(self) -> Mapping[str, int]: ...

    def encode(self) -> Any: ...

    @classmethod
    def decode(cls, content: Any) -> Self: ...


class Commit(NamedTuple):
    """What a job did; `size` is the bytes of source it went through, `cached` the files of which all was known.

    `results` go into the tables of the domain; `not_checked` pairs a path with the reason, `remarks` are (path, line,
    the comment, what is to be said of it), `artifacts` a name with the content; `blobs` are names with what the step
    has put into the blob store itself, for the stages behind it.
    """

    files: int = 0
    size: int = 0
    cached: int = 0
    cpu_seconds: float = 0.0
    results: tuple[DomainResult, ...] = ()
    not_checked: tuple[tuple[bytes, str], ...] = ()
    remarks: tuple[tuple[bytes, int, str, str], ...] = ()
    artifacts: tuple[tuple[str, bytes], ...] = ()
    children: tuple[NewJob, ...] = ()
    profile: str | None = None
    blobs: tuple[tuple[str, str], ...] = ()


class Finished(NamedTuple):
    """A commit whose large parts are in the blob store: `result` is the row's text, `artifacts` (name, blob, size)."""

    job: Claimed
    commit: Commit
    result: str | None = None
    artifacts: tuple[tuple[str, str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class WorkerFacts:
    """A worker: `birth` tells a process from a later one with the same pid (boot id and start time)."""

    id: str
    host: str
    pid: int
    birth: str
    queues: str
    slots: int
    version: str
