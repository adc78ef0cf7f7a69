"""Ids of rules of other analyzers have more than 64 characters."""

import sqlalchemy as sa
from alembic import op

revision = "0025"
down_revision = "0024"


def upgrade() -> None:
    with op.batch_alter_table("judgement") as table:
        table.alter_column("rule", existing_type=sa.String(64), existing_nullable=False, type_=sa.Text())
