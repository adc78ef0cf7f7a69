"""The sandbox tier of the scripts that support a verdict."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    with op.batch_alter_table("verdict") as verdict:
        verdict.add_column(sa.Column("sandbox", sa.String(length=1), nullable=True))
