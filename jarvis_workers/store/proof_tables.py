"""The table of proofs by execution."""

from sqlalchemy import Text
from sqlmodel import Field, SQLModel

from jarvis_workers.store.tables import table


class ProofRow(SQLModel, table=True):
    """The proof of a finding; see `values.NewProof`."""

    __tablename__ = "proof"
    run_id: str = Field(foreign_key="run.id", ondelete="CASCADE", primary_key=True, max_length=32)
    gid: int = Field(primary_key=True)
    job_id: int = Field(foreign_key="job.id", ondelete="CASCADE", index=True)
    state: str = Field(max_length=16)
    kind: str | None = Field(default=None, max_length=16)
    attempts: int
    command: str = Field(sa_type=Text)
    files: str | None = Field(default=None, max_length=64)
    output: str = Field(sa_type=Text)
    stack: str = Field(sa_type=Text)
    reason: str = Field(sa_type=Text)
    sandbox: str | None = Field(default=None, max_length=1)


PROOF = table(ProofRow)
