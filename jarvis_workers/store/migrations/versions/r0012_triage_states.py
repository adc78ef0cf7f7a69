"""Triage states as words instead of true and false, and the history of operations for undo."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"

TABLES = ("judgement", "judged")
WORDS = "CASE WHEN verdict THEN 'true' ELSE 'false' END"


def upgrade() -> None:
    for name in TABLES:
        op.add_column(name, sa.Column("state", sa.String(), nullable=False, server_default=""))
        op.execute(f"UPDATE {name} SET state = {WORDS}")
        with op.batch_alter_table(name) as table:
            table.drop_column("verdict")
            table.alter_column("state", new_column_name="verdict", server_default=None)
    op.create_table(
        "triage_operation",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("change", sa.Text(), nullable=False),
        sa.Column("by", sa.Text(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "triage_change",
        sa.Column("operation_id", sa.Integer(), nullable=False),
        sa.Column("fingerprint", sa.String(length=16), nullable=False),
        sa.Column("before", sa.Text(), nullable=True),
        sa.Column("after_at", sa.Float(), nullable=True),
        sa.ForeignKeyConstraint(["operation_id"], ["triage_operation.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("operation_id", "fingerprint"),
    )
