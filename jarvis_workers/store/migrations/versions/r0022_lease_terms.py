"""The length of each lease, by which a clock that was set back is recognised."""

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"


def upgrade() -> None:
    op.add_column("job", sa.Column("lease_seconds", sa.Float(), nullable=True))
    op.add_column("lease", sa.Column("seconds", sa.Float(), nullable=True))
