"""Labels of runs; earlier runs get the branch and the commit of their checkout."""

import json

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"

CHUNK = 1000


def upgrade() -> None:
    labels = op.create_table(
        "run_label",
        sa.Column("run_id", sa.String(length=32), nullable=False),
        sa.Column("key", sa.String(length=253), nullable=False),
        sa.Column("value", sa.String(length=256), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("run_id", "key"),
    )
    op.create_index("ix_run_label_value", "run_label", ["key", "value"])
    runs = op.get_bind().execute(sa.text("SELECT id, options FROM run")).all()
    rows = [row for run_id, options in runs for row in _rows(run_id, options)]
    for start in range(0, len(rows), CHUNK):
        op.bulk_insert(labels, rows[start : start + CHUNK])


def _rows(run_id: str, options: str) -> list[dict[str, str]]:
    checkout = json.loads(options).get("checkout") or {}
    return [
        {"run_id": run_id, "key": key, "value": value}
        for key, value in checkout.items()
        if key in ("branch", "commit") and isinstance(value, str) and 0 < len(value) <= 256
    ]
