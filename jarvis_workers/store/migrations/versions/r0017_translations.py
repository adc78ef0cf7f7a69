"""Proofs of the functions that a model translated."""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"


def upgrade() -> None:
    op.create_table(
        "translation",
        sa.Column("job_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("run_id", sa.String(length=32), nullable=False),
        sa.Column("proof", sa.String(length=16), nullable=False),
        sa.ForeignKeyConstraint(["job_id"], ["job.id"], ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("job_id"),
    )
    op.create_index("ix_translation_run_id", "translation", ["run_id"])
