"""Indexes for dispatching: waiting jobs by run and weight, and recently finished jobs by queue."""

from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.drop_index("ix_job_queue", table_name="job")
    op.create_index("ix_job_waiting", "job", ["run_id", "queue", "state", "weight", "id"])
    op.create_index("ix_job_recent", "job", ["queue", "state", "finished_at"])
