"""The tables that every kind of run has; `schema.TABLE_MODULES` lists the modules with those of domains.

Times are in seconds since 1970 by the *database's* clock. File names are stored twice: in display form (`file`), and as
bytes (`file_raw`), which define the order.
"""

from typing import Any, cast

from sqlalchemy import BigInteger, Index, LargeBinary, Table, Text, UniqueConstraint, text
from sqlmodel import Field, SQLModel

ACTIVE_RUNS = ("planning", "running")
OPEN_JOBS = ("pending", "sent", "running")
WAITING_JOBS = ("pending", "sent")
# The column values of a job without a holder.
IDLE: dict[str, None] = dict.fromkeys(("lease_until", "lease_seconds", "worker_id", "process", "sent_at"))


class RunRow(SQLModel, table=True):
    """A run. States: planning, running, paused, cancelling; done, incomplete, failed, cancelled."""

    __tablename__ = "run"
    id: str = Field(primary_key=True, max_length=32)
    kind: str = Field(max_length=32)
    state: str = Field(max_length=16, index=True)
    reason: str | None = Field(default=None, sa_type=Text)
    root: str = Field(sa_type=Text)
    root_raw: bytes = Field(sa_type=LargeBinary)
    snapshot_id: str = Field(foreign_key="snapshot.id", max_length=64)
    executor: str = Field(max_length=96, index=True)
    options: str = Field(default="{}", sa_type=Text)
    version: str = Field(max_length=32)
    created_at: float
    started_at: float | None = None
    ended_at: float | None = None


class RunLabelRow(SQLModel, table=True):
    """A label for finding a run; it has no effect on the run or its report."""

    __tablename__ = "run_label"
    __table_args__ = (Index("ix_run_label_value", "key", "value"),)
    run_id: str = Field(foreign_key="run.id", ondelete="CASCADE", primary_key=True, max_length=32)
    key: str = Field(primary_key=True, max_length=253)
    value: str = Field(max_length=256)


class RunNameRow(SQLModel, table=True):
    """The name of a run, unique in the store; `request_hash` identifies the request submitted with this name."""

    __tablename__ = "run_name"
    __table_args__ = (UniqueConstraint("run_id", name="uq_run_name_run"),)
    name: str = Field(primary_key=True, max_length=63)
    run_id: str = Field(foreign_key="run.id", ondelete="CASCADE", max_length=32)
    request_hash: str = Field(max_length=64)


class StageRow(SQLModel, table=True):
    """A phase of a run; it is open until the controller finds that it has no open jobs."""

    __tablename__ = "stage"
    run_id: str = Field(foreign_key="run.id", ondelete="CASCADE", primary_key=True, max_length=32)
    name: str = Field(primary_key=True, max_length=32)
    ordinal: int
    state: str = Field(default="open", max_length=8)
    opened_at: float | None = None
    closed_at: float | None = None


LOST = text("crashes > 0")


class JobRow(SQLModel, table=True):
    """The smallest durable piece of work. States: pending, sent, running; done, failed, cancelled."""

    __tablename__ = "job"
    __table_args__ = (
        UniqueConstraint("run_id", "stage", "input_hash", name="uq_job_input"),
        Index("ix_job_stage_state", "run_id", "stage", "state"),
        Index("ix_job_lost", "run_id", "queue", "state", sqlite_where=LOST, postgresql_where=LOST),
        Index("ix_job_recent", "queue", "state", "finished_at"),
        Index("ix_job_lease", "state", "lease_until"),
        # Ids are never reused, since fencing tokens of different jobs are not comparable.
        {"sqlite_autoincrement": True},
    )
    id: int | None = Field(default=None, primary_key=True)
    run_id: str = Field(foreign_key="run.id", ondelete="CASCADE", max_length=32)
    stage: str = Field(max_length=32)
    step: str = Field(max_length=32)
    queue: str = Field(max_length=16)
    input_hash: str = Field(max_length=64)
    label: str = Field(max_length=200)
    payload: str = Field(default="{}", sa_type=Text)
    weight: int = Field(default=0, sa_type=BigInteger)
    state: str = Field(default="pending", max_length=16)
    fence: int = 0
    lease_until: float | None = None
    lease_seconds: float | None = None
    worker_id: str | None = Field(default=None, max_length=64)
    process: str | None = Field(default=None, max_length=64)
    attempts: int = 0
    crashes: int = 0
    not_before: float = 0.0
    sent_at: float | None = None
    started_at: float | None = None
    finished_at: float | None = None
    reason: str | None = Field(default=None, sa_type=Text)
    files: int = 0
    bytes: int = Field(default=0, sa_type=BigInteger)
    not_checked: int = 0
    cached: int = Field(default=0, sa_column_kwargs={"server_default": "0"})
    cpu_seconds: float = 0.0
    result: str | None = Field(default=None, sa_type=Text)


class WorkerRow(SQLModel, table=True):
    """A worker or a waiting command; it counts as gone if `seen_at` is older than a lease."""

    __tablename__ = "worker"
    id: str = Field(primary_key=True, max_length=64)
    host: str = Field(max_length=255)
    pid: int
    birth: str = Field(max_length=96)
    queues: str = Field(max_length=255)
    slots: int
    version: str = Field(max_length=32)
    seen_at: float


class SnapshotRow(SQLModel, table=True):
    """A packed source tree; `id` is the hash of its index."""

    __tablename__ = "snapshot"
    id: str = Field(primary_key=True, max_length=64)
    files: int
    bytes: int = Field(sa_type=BigInteger)
    not_checked: int
    created_at: float


class EventRow(SQLModel, table=True):
    """An event in the life of a run or stage, for users and for measuring recovery."""

    __tablename__ = "event"
    id: int | None = Field(default=None, primary_key=True)
    run_id: str = Field(foreign_key="run.id", ondelete="CASCADE", max_length=32, index=True)
    stage: str | None = Field(default=None, max_length=32)
    name: str = Field(max_length=32)
    facts: str = Field(default="{}", sa_type=Text)
    at: float


class ArtifactRow(SQLModel, table=True):
    """A result stored as a blob."""

    __tablename__ = "artifact"
    run_id: str = Field(foreign_key="run.id", ondelete="CASCADE", primary_key=True, max_length=32)
    name: str = Field(primary_key=True, max_length=64)
    blob: str = Field(max_length=64)
    size: int = Field(sa_type=BigInteger)
    created_at: float


class BlobUseRow(SQLModel, table=True):
    """A use of a blob by a run or a submission in progress, recorded before checking whether the blob exists."""

    __tablename__ = "blob_use"
    owner: str = Field(primary_key=True, max_length=64)
    blob: str = Field(primary_key=True, max_length=64, index=True)
    at: float


class RecordRow(SQLModel, table=True):
    """A line of the transcript of a running conversation; `fence` distinguishes the executions of its job."""

    __tablename__ = "record"
    job_id: int = Field(foreign_key="job.id", ondelete="CASCADE", primary_key=True)
    fence: int = Field(primary_key=True)
    number: int = Field(primary_key=True)
    line: bytes = Field(sa_type=LargeBinary)


class AnswerRow(SQLModel, table=True):
    """A model's answer, by the hash of everything that it depends on."""

    __tablename__ = "answer"
    key: str = Field(primary_key=True, max_length=64)
    text: str = Field(sa_type=Text)
    at: float


class ModelCallRow(SQLModel, table=True):
    """A model call of a run: tokens, dollars, seconds. `tries` is 0 for a cached answer.

    A `cost` of NULL is unknown, because the model has no prices. `estimated` is the estimated number of tokens of the
    prompt before the call, 0 if unknown.
    """

    __tablename__ = "model_call"
    id: int | None = Field(default=None, primary_key=True)
    run_id: str = Field(foreign_key="run.id", ondelete="CASCADE", max_length=32, index=True)
    job_id: int
    model: str = Field(sa_type=Text)
    prompt: int
    cached: int
    completion: int
    cost: float | None
    seconds: float
    tries: int
    estimated: int = Field(default=0, sa_column_kwargs={"server_default": "0"})


class BudgetRow(SQLModel, table=True):
    """The budget of a run, in parts of its unit (see `models/ratelimit/budget`)."""

    __tablename__ = "budget"
    run_id: str = Field(foreign_key="run.id", ondelete="CASCADE", primary_key=True, max_length=32)
    unit: str = Field(max_length=8)
    cap: int = Field(sa_type=BigInteger)


class AllowanceRow(SQLModel, table=True):
    """A process's allowance from a run's budget; it is void if the process has no running job of the run."""

    __tablename__ = "allowance"
    run_id: str = Field(foreign_key="run.id", ondelete="CASCADE", primary_key=True, max_length=32)
    process: str = Field(primary_key=True, max_length=64)
    held: int = Field(sa_type=BigInteger)


class SecretRow(SQLModel, table=True):
    """A secret shared by all processes that use the store; authors of untrusted text must not be able to guess it."""

    __tablename__ = "secret"
    name: str = Field(primary_key=True, max_length=32)
    value: bytes = Field(sa_type=LargeBinary)


class LeaseRow(SQLModel, table=True):
    """The holder of an exclusive role; `seconds` is the length of its lease."""

    __tablename__ = "lease"
    name: str = Field(primary_key=True, max_length=32)
    holder: str = Field(max_length=64)
    until: float
    seconds: float | None = None


def table(row: type[SQLModel]) -> Table:
    """Return the Core table of a row class."""
    return cast(Table, cast(Any, row).__table__)


RUN, STAGE, JOB, WORKER = table(RunRow), table(StageRow), table(JobRow), table(WorkerRow)
RUN_LABEL, RUN_NAME = table(RunLabelRow), table(RunNameRow)
SNAPSHOT, EVENT = table(SnapshotRow), table(EventRow)
ARTIFACT, BLOB_USE, LEASE = table(ArtifactRow), table(BlobUseRow), table(LeaseRow)
RECORD, ANSWER, MODEL_CALL, SECRET = table(RecordRow), table(AnswerRow), table(ModelCallRow), table(SecretRow)
BUDGET, ALLOWANCE = table(BudgetRow), table(AllowanceRow)
HEAVIEST_FIRST = (JOB.c.weight.desc(), JOB.c.id)
Index("ix_job_waiting", JOB.c.run_id, JOB.c.queue, JOB.c.state, *HEAVIEST_FIRST)
