"""The column of a candidate in its line; NULL for earlier candidates."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    op.add_column("candidate", sa.Column("column", sa.Integer(), nullable=True))
