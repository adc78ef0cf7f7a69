"""The tables of the security domain: candidates, clusters, verdicts, proofs, baselines, and triage.

Triage verdicts have a table of the operations that changed them, for undo.
"""

from sqlalchemy import Column, ForeignKey, Index, Integer, LargeBinary, String, Table, Text
from sqlmodel import Field, SQLModel

from jarvis_workers.sec.assessment import Verdict
from jarvis_workers.sec.finding import Candidate
from jarvis_workers.sec.proof.proof import Proof
from jarvis_workers.sec.triage_record import Judgement
from jarvis_workers.sec.triage_states import TriageState
from jarvis_workers.store.record_columns import record_columns
from jarvis_workers.store.tables import table


class ClusterRow(SQLModel, table=True):
    """Candidates that share a condition to verify; `gids` is a JSON list."""

    __tablename__ = "cluster"
    id: int | None = Field(default=None, primary_key=True)
    run_id: str = Field(foreign_key="run.id", ondelete="CASCADE", max_length=32, index=True)
    job_id: int = Field(foreign_key="job.id", ondelete="CASCADE", index=True)
    file: str = Field(sa_type=Text)
    file_raw: bytes = Field(sa_type=LargeBinary)
    batch_index: int
    verification: str = Field(sa_type=Text)
    gids: str = Field(sa_type=Text)


class BaselineRow(SQLModel, table=True):
    """The number of findings per fingerprint in the baseline of a run."""

    __tablename__ = "baseline"
    run_id: str = Field(foreign_key="run.id", ondelete="CASCADE", primary_key=True, max_length=32)
    fingerprint: str = Field(primary_key=True, max_length=16)
    findings: int


class JudgementRow(Judgement, SQLModel, table=True):
    """The latest triage verdict on a fingerprint, valid for all runs."""

    __tablename__ = "judgement"
    model_config = {"frozen": False}
    fingerprint: str = Field(primary_key=True, max_length=16)
    rule: str = Field(sa_type=Text)
    verdict: TriageState = Field(sa_type=String)
    reason: str = Field(default="", sa_type=Text)
    by: str = Field(default="", sa_type=Text)
    file: str = Field(default="", sa_type=Text)
    at: float


class JudgedRow(SQLModel, table=True):
    """A run's copy of a triage verdict, made when the run was submitted."""

    __tablename__ = "judged"
    run_id: str = Field(foreign_key="run.id", ondelete="CASCADE", primary_key=True, max_length=32)
    fingerprint: str = Field(primary_key=True, max_length=16)
    verdict: TriageState = Field(sa_type=String)
    reason: str = Field(sa_type=Text)


class TriageOperationRow(SQLModel, table=True):
    """A triage command, for undo; `change` describes it in words."""

    __tablename__ = "triage_operation"
    id: int | None = Field(default=None, primary_key=True)
    change: str = Field(sa_type=Text)
    by: str = Field(sa_type=Text)
    at: float


class TriageChangeRow(SQLModel, table=True):
    """The triage verdict before an operation, and the time of the verdict after it; NULL if there is none."""

    __tablename__ = "triage_change"
    operation_id: int = Field(foreign_key="triage_operation.id", ondelete="CASCADE", primary_key=True)
    fingerprint: str = Field(primary_key=True, max_length=16)
    before: str | None = Field(default=None, sa_type=Text)
    after_at: float | None = None


BASELINE, CLUSTER = table(BaselineRow), table(ClusterRow)
JUDGEMENT, JUDGED = table(JudgementRow), table(JudgedRow)
TRIAGE_OPERATION, TRIAGE_CHANGE = table(TriageOperationRow), table(TriageChangeRow)
# Candidates. Gids are assigned before the report, in order of file, line and rule, suppressed ones last. A candidate
# `superseded` by another rule has no gid.
CANDIDATE = Table(
    "candidate",
    SQLModel.metadata,
    Column("id", Integer, primary_key=True),
    Column("run_id", String(32), ForeignKey("run.id", ondelete="CASCADE"), nullable=False),
    Column("job_id", Integer, ForeignKey("job.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("gid", Integer),
    Column("superseded", String(64)),
    Column("file_raw", LargeBinary, nullable=False),
    *record_columns(Candidate),
    Index("ix_candidate_gid", "run_id", "gid"),
)
VERDICT = Table(
    "verdict",
    SQLModel.metadata,
    Column("run_id", String(32), ForeignKey("run.id", ondelete="CASCADE"), primary_key=True),
    Column("job_id", Integer, ForeignKey("job.id", ondelete="CASCADE"), nullable=False, index=True),
    *record_columns(Verdict, Text, key="gid", without=("cut_short",), sandbox=String(1)),
)
PROOF = Table(
    "proof",
    SQLModel.metadata,
    Column("run_id", String(32), ForeignKey("run.id", ondelete="CASCADE"), primary_key=True),
    Column("gid", Integer, primary_key=True),
    Column("job_id", Integer, ForeignKey("job.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("files", String(64), key="blob"),
    *record_columns(Proof, Text, without=("blob", "sources", "attempt"), sandbox=String(1)),
)
