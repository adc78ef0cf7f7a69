"""The tables of triage verdicts and of the operations that changed them, for undo."""

from sqlalchemy import String, Text
from sqlmodel import Field, SQLModel

from jarvis_workers.sec.triage import TriageState
from jarvis_workers.sec.triage_record import Judgement
from jarvis_workers.store.tables import table


class JudgementRow(Judgement, SQLModel, table=True):
    """The latest triage verdict on a fingerprint, valid for all runs."""

    __tablename__ = "judgement"
    model_config = {"frozen": False}
    fingerprint: str = Field(primary_key=True, max_length=16)
    rule: str = Field(max_length=64)
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


JUDGEMENT, JUDGED = table(JudgementRow), table(JudgedRow)
TRIAGE_OPERATION, TRIAGE_CHANGE = table(TriageOperationRow), table(TriageChangeRow)
