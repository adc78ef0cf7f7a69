"""Values that are read from and written to the store, for code without a database connection.

The module has few imports because the scanning child processes use it, without a database library.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, Self

AGENT_QUEUE = "agent"
JOB_STATES = ("pending", "sent", "running", "done", "failed", "cancelled")
NO_PROOF = "none"
# Runs that make the crate so far of a paused run for a command, which removes them: "last" is never one of them.
PARTIAL_KINDS = ("c2rust.partial", "c2rust.partial-fast")
# The label of a scan that a scan with `--baseline REVISION` has started: the revision.
BASELINE_OF = "baseline-scan"
ENDED_RUNS = ("done", "incomplete", "failed", "cancelled")
RUN_STATES = ("planning", "running", "paused", "cancelling", *ENDED_RUNS)


@dataclass(frozen=True, slots=True)
class Run:
    """A run; `options` are those with which it was submitted."""

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
        """Whether the run has ended; after that, only a retry changes it."""
        return self.state in ENDED_RUNS


@dataclass(frozen=True, slots=True)
class SnapshotFacts:
    """The metadata of a snapshot; `id` is the hash of its index."""

    id: str
    files: int
    bytes: int
    not_checked: int


@dataclass(frozen=True, slots=True)
class StageProgress:
    """The progress of a stage, not counting plan jobs. `weight` and `weight_done` are bytes of source.

    `tokens` and `cost` (dollars) are the usage of its conversations, not counting cached answers; a `cost` of None is
    unknown, for want of prices.  Of a stage with conversations, `mean_seconds` is the mean duration of those that are
    done, `seconds_left` and `tokens_left` are estimates from them; all are 0 if unknown.  `proofs` is the number of
    functions that a model translated, by the proof of their bodies: "none" for those that step down, since no answer
    was accepted.
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
    cost: float | None = 0.0
    tokens_left: int = 0
    opened_at: float | None = None
    closed_at: float | None = None
    mean_seconds: float = 0.0
    seconds_left: float = 0.0
    proofs: Mapping[str, int] = field(default_factory=dict)

    @property
    def conversation_rate(self) -> float:
        """The conversations that end per second: those that run, over their mean duration (Little's law)."""
        return self.running / self.mean_seconds if self.mean_seconds else 0.0

    @property
    def cost_left(self) -> float | None:
        """The dollars that the tokens that are left cost, if they cost as much as those so far; None is unknown."""
        return self.cost and self.cost * self.tokens_left / max(self.tokens, 1)

    @property
    def accepted(self) -> Mapping[str, int]:
        """The number of functions with an accepted body of the model, by proof."""
        return {proof: number for proof, number in self.proofs.items() if proof != NO_PROOF}

    @property
    def stepped_down(self) -> int:
        """The number of functions without such a body, because no answer was accepted or their jobs failed."""
        return self.proofs.get(NO_PROOF, 0) + self.failed if self.proofs else 0


class NewJob(NamedTuple):
    """A job to plan. `input_hash` identifies its input, so that planning is idempotent.

    `stage` is set if it differs from the stage of the job that plans it.
    """

    step: str
    queue: str
    label: str
    input_hash: str
    payload: str = "{}"
    weight: int = 0
    stage: str | None = None


class Claimed(NamedTuple):
    """A claim of a job, valid until its lease expires or a newer fencing token exists."""

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
    """A job in the form used by later stages and the report; `payload` is JSON, `pipeline.history` decodes `result`."""

    state: str
    reason: str | None
    label: str
    weight: int
    payload: str
    result: str | None
    files: int

    @property
    def done(self) -> bool:
        """Whether the job has a result."""
        return self.state == "done"


class RecoveredJob(NamedTuple):
    """A job recovered from a process; it is repeated unless it has failed."""

    id: int
    run_id: str
    stage: str
    label: str
    process: str | None = None
    given_up: bool = False
    fence: int = 0


class Spot(NamedTuple):
    """A candidate in the form that a scan produces, without the columns that the rule table defines.

    `trail` contains the steps that lead to the candidate, encoded by `sec/trace`.
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
    """The description of a rule that is not built in, which the store cannot look up."""

    pattern: str
    language: str
    category: str
    cwe: int
    description: str
    suggestion: str


class NewCluster(NamedTuple):
    """Candidates that share a condition to verify; `file` and `batch_index` are those of the first candidate."""

    file: bytes
    batch_index: int
    verification: str
    gids: tuple[int, ...]


class DomainResult(Protocol):
    """A job's result for the tables of its domain; `store.domain_results` registers the writer.

    `counts` returns the number of rows by kind, for the log; `decode` is the inverse of `encode` after a JSON round
    trip.
    """

    def counts(self) -> Mapping[str, int]: ...

    def encode(self) -> Any: ...

    @classmethod
    def decode(cls, content: Any) -> Self: ...


class Commit(NamedTuple):
    """The results of a job; `size` is the source bytes processed, `cached` the number of files served from the cache.

    `results` are written to the tables of the domain; `not_checked` are (path, reason), `remarks` are (path, line,
    comment, message), `artifacts` are (name, content); `blobs` are (name, blob) of data that the step has put into the
    blob store itself, for later stages.
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
    """A commit with its large parts in the blob store: `result` is the row's text, `artifacts` (name, blob, size)."""

    job: Claimed
    commit: Commit
    result: str | None = None
    artifacts: tuple[tuple[str, str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class WorkerFacts:
    """A worker; `birth` distinguishes a process from a later one with the same pid (boot id and start time)."""

    id: str
    host: str
    pid: int
    birth: str
    queues: str
    slots: int
    version: str
