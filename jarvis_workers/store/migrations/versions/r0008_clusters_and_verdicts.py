"""Clusters, and verdicts on candidates."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    op.create_table(
        "cluster",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.String(length=32), nullable=False),
        sa.Column("job_id", sa.Integer(), nullable=False),
        sa.Column("file", sa.Text(), nullable=False),
        sa.Column("file_raw", sa.LargeBinary(), nullable=False),
        sa.Column("batch_index", sa.Integer(), nullable=False),
        sa.Column("verification", sa.Text(), nullable=False),
        sa.Column("gids", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["job_id"], ["job.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_cluster_run_id", "cluster", ["run_id"])
    op.create_index("ix_cluster_job_id", "cluster", ["job_id"])
    texts = ("preconditions", "trigger_path", "consequences", "suggestions", "evidence")
    op.create_table(
        "verdict",
        sa.Column("run_id", sa.String(length=32), nullable=False),
        sa.Column("gid", sa.Integer(), nullable=False),
        sa.Column("job_id", sa.Integer(), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("has_risk", sa.Boolean(), nullable=True),
        *[sa.Column(name, sa.Text(), nullable=False) for name in texts],
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("commands", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["job_id"], ["job.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("run_id", "gid"),
    )
    op.create_index("ix_verdict_job_id", "verdict", ["job_id"])
