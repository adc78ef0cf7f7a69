"""Run migrations on the connection passed by `schema.upgrade`, in its current transaction."""

from alembic import context
from sqlmodel import SQLModel

from jarvis_workers.store.schema import load_tables

load_tables()

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=SQLModel.metadata,
    render_as_batch=True,
    transaction_per_migration=False,
)
context.run_migrations()
