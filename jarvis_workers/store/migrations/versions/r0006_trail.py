"""Traces of candidates, and which candidates of a line are superseded."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    op.add_column("candidate", sa.Column("trail", sa.String(), nullable=True))
    op.add_column("candidate", sa.Column("superseded", sa.String(length=64), nullable=True))
