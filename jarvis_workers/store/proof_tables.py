"""The table of proofs by execution."""

from sqlalchemy import Column, ForeignKey, Integer, String, Table, Text
from sqlmodel import SQLModel

from jarvis_workers.sec.proof.proof import Proof
from jarvis_workers.store.record_columns import record_columns

PROOF = Table(
    "proof",
    SQLModel.metadata,
    Column("run_id", String(32), ForeignKey("run.id", ondelete="CASCADE"), primary_key=True),
    Column("gid", Integer, primary_key=True),
    Column("job_id", Integer, ForeignKey("job.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("files", String(64), key="blob"),
    *record_columns(Proof, Text, without=("blob", "sources", "attempt"), sandbox=String(1)),
)
