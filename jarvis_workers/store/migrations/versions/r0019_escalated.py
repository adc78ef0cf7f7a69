"""Whether a stronger model was asked about a candidate; false for earlier verdicts."""

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"


def upgrade() -> None:
    op.add_column("verdict", sa.Column("escalated", sa.Boolean(), nullable=False, server_default=sa.false()))
