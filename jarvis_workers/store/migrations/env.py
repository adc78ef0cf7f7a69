"""Run migrations on the connection passed by `schema.upgrade`, in its current transaction."""

from alembic import context
from sqlmodel import SQLModel

from jarvis_workers.store import proof_tables, symbol_tables, tables, triage_tables

assert tables
assert proof_tables and symbol_tables and triage_tables

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=SQLModel.metadata,
    render_as_batch=True,
    transaction_per_migration=False,
)
context.run_migrations()
