"""An index for what was lost before: it is rung for first."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    lost = sa.text("crashes > 0")
    op.create_index("ix_job_lost", "job", ["run_id", "queue", "state"], sqlite_where=lost, postgresql_where=lost)


def downgrade() -> None:
    op.drop_index("ix_job_lost", table_name="job")
