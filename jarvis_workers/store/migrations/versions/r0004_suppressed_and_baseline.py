"""Suppressed candidates, and baselines."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.add_column("candidate", sa.Column("suppressed", sa.String(), nullable=True))
    op.create_table(
        "baseline",
        sa.Column("run_id", sa.String(length=32), nullable=False),
        sa.Column("fingerprint", sa.String(length=16), nullable=False),
        sa.Column("findings", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("run_id", "fingerprint"),
    )
