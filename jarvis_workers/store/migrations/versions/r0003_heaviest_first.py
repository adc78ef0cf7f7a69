"""Index waiting jobs in the order in which they are sent: crashed ones first, then by weight, then by age."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.drop_index("ix_job_waiting", table_name="job")
    op.create_index("ix_job_waiting", "job", ["run_id", "queue", "state", sa.text("weight DESC"), "id"])
    lost = sa.text("crashes > 0")
    op.create_index("ix_job_lost", "job", ["run_id", "queue", "state"], sqlite_where=lost, postgresql_where=lost)
