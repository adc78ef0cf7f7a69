"""Budgets of runs, allowances of processes, and estimated prompt sizes."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    op.create_table(
        "budget",
        sa.Column("run_id", sa.String(length=32), nullable=False),
        sa.Column("unit", sa.String(length=8), nullable=False),
        sa.Column("cap", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("run_id"),
    )
    op.create_table(
        "allowance",
        sa.Column("run_id", sa.String(length=32), nullable=False),
        sa.Column("process", sa.String(length=64), nullable=False),
        sa.Column("held", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("run_id", "process"),
    )
    op.add_column("model_call", sa.Column("estimated", sa.Integer(), nullable=False, server_default="0"))
