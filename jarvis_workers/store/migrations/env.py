"""Run migrations on the connection passed by `schema.upgrade`, in its transaction."""

from alembic import context
from sqlmodel import SQLModel

from jarvis_workers.store import tables, triage_tables

assert tables
assert triage_tables

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=SQLModel.metadata,
    render_as_batch=True,
    transaction_per_migration=False,
)
context.run_migrations()
