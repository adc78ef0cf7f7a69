"""The schema: made, found to fit, or refused."""

from collections.abc import Callable

import pytest
from sqlalchemy import inspect, text

from jarvis_workers.errors import StoreError
from jarvis_workers.store import schema
from jarvis_workers.store.engine import Store
from tests.servers import Postgres


def test_a_store_that_is_there_is_opened_as_it_is(store_url: str, open_stores: Callable[..., Store]) -> None:
    open_stores(store_url)
    again = open_stores(store_url)
    with again.engine.connect() as connection:
        assert schema.stored_revision(connection) == schema.REVISIONS[-1]


def test_a_newer_schema_is_refused(store: Store, store_url: str, open_stores: Callable[..., Store]) -> None:
    with store.write() as session:
        session.execute(text("UPDATE alembic_version SET version_num = '9999'"))

    with pytest.raises(StoreError, match='the newer schema "9999"; upgrade jarvis-workers'):
        open_stores(store_url)


def test_a_version_table_without_a_version_is_no_schema(store: Store) -> None:
    with store.write() as session:
        session.execute(text("DELETE FROM alembic_version"))
    with store.engine.connect() as connection:
        assert schema.stored_revision(connection) is None


def test_postgresql_is_migrated_only_on_demand(postgres_server: Postgres, open_stores: Callable[..., Store]) -> None:
    postgres_server.sql("CREATE DATABASE empty_one")
    url = postgres_server.url("empty_one")
    with pytest.raises(StoreError, match="schema is missing; run: jarvis admin migrate"):
        open_stores(url)

    assert inspect(open_stores(url, migrate=True).engine).has_table("job")
    open_stores(url)
