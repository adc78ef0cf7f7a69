"""Opening a store: its schema, its address, and what goes wrong."""

from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlmodel import SQLModel

from jarvis_workers.store.engine import Store


def test_migrations_make_the_tables_that_the_rows_describe(store: Store) -> None:
    with store.engine.connect() as connection:
        context = MigrationContext.configure(connection)
        assert compare_metadata(context, SQLModel.metadata) == []
