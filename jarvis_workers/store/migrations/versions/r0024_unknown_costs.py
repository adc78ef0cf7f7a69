"""The cost of an answer of a model without prices is unknown, not 0."""

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0022"


def upgrade() -> None:
    with op.batch_alter_table("model_call") as table:
        table.alter_column("cost", existing_type=sa.Float(), nullable=True)
    op.execute("UPDATE model_call SET cost = NULL WHERE tries > 0 AND cost = 0")
