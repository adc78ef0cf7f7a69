"""Names of runs, with which a restarted command finds its run."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    op.create_table(
        "run_name",
        sa.Column("name", sa.String(length=63), nullable=False),
        sa.Column("run_id", sa.String(length=32), nullable=False),
        sa.Column("request_hash", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("name"),
        sa.UniqueConstraint("run_id", name="uq_run_name_run"),
    )
