"""The analysis and the rating of a verdict; empty for earlier verdicts."""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"


def upgrade() -> None:
    op.add_column("verdict", sa.Column("analysis", sa.Text(), nullable=False, server_default=""))
    op.add_column("verdict", sa.Column("exposure", sa.String(length=16), nullable=False, server_default=""))
    op.add_column("verdict", sa.Column("severity", sa.String(length=16), nullable=False, server_default=""))
    op.add_column("verdict", sa.Column("confidence", sa.Float(), nullable=True))
