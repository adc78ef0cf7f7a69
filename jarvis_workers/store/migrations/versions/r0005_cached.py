"""The number of a job's files that were served from the result cache."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    op.add_column("job", sa.Column("cached", sa.Integer(), nullable=False, server_default="0"))
