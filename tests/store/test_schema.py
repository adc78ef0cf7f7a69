"""The schema: made, found to fit, or refused."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, inspect, text
from sqlmodel import SQLModel

from jarvis_workers.errors import StoreError
from jarvis_workers.sec.store import judgements
from jarvis_workers.store import run_labels, schema
from jarvis_workers.store.engine import Store
from jarvis_workers.store.revisions import REVISIONS, VERSION_TABLE
from tests.support.servers import Postgres


def test_a_store_that_is_there_is_opened_as_it_is(store_url: str, open_stores: Callable[..., Store]) -> None:
    open_stores(store_url)
    again = open_stores(store_url)
    with again.engine.connect() as connection:
        assert schema.stored_revision(connection) == REVISIONS[-1]


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


@pytest.mark.slow
def test_postgresql_is_migrated_only_on_demand(postgres_server: Postgres, open_stores: Callable[..., Store]) -> None:
    postgres_server.sql("CREATE DATABASE empty_one")
    url = postgres_server.url("empty_one")
    with pytest.raises(StoreError, match="schema is missing; run: jarvis admin migrate"):
        open_stores(url)

    assert inspect(open_stores(url, migrate=True).engine).has_table("job")
    open_stores(url)


def migrate_to(connection: Connection, revision: str) -> None:
    config = Config()
    config.set_main_option("script_location", "jarvis_workers.store:migrations")
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    command.upgrade(config, revision)


@contextmanager
def at_revision(store: Store, revision: str) -> Iterator[Connection]:
    """Create the tables of an earlier revision, and migrate what the block inserts to the newest."""
    with store.engine.execution_options(jarvis_mode="migrate").begin() as connection:
        connection.execute(text(f"DROP TABLE {VERSION_TABLE}"))
        schema.load_tables()
        SQLModel.metadata.drop_all(connection)
        migrate_to(connection, revision)
        yield connection
        migrate_to(connection, REVISIONS[-1])


def test_migration_makes_costs_without_prices_unknown(store: Store) -> None:
    columns = "run_id, job_id, model, prompt, cached, completion, cost, seconds, tries"
    with at_revision(store, "0022") as connection:
        connection.execute(
            text("INSERT INTO snapshot (id, files, bytes, not_checked, created_at) VALUES ('s',0,0,0,1)")
        )
        run = "id, kind, state, root, root_raw, snapshot_id, executor, options, version, created_at"
        values = "'r', 'agent', 'done', '/x', :raw, 's', 'local:w', '{}', '0', 1"
        connection.execute(text(f"INSERT INTO run ({run}) VALUES ({values})"), {"raw": b"/x"})
        for cost, tries in ((0, 1), (0, 0), (0.5, 2)):
            values = f"'r', 1, 'm', 1, 0, 1, {cost}, 1, {tries}"
            connection.execute(text(f"INSERT INTO model_call ({columns}) VALUES ({values})"))

    with store.read() as session:
        assert [*session.execute(text("SELECT cost FROM model_call ORDER BY id")).scalars()] == [None, 0.0, 0.5]


def test_migration_turns_true_and_false_into_triage_states(store: Store) -> None:
    columns = 'fingerprint, rule, verdict, reason, "by", file, at'
    row = f"INSERT INTO judgement ({columns}) VALUES ('{{}}', 'gets', {{}}, '', '', '', 1)"
    with at_revision(store, "0011") as connection:
        connection.execute(text(row.format("a" * 16, "true")))
        connection.execute(text(row.format("b" * 16, "false")))

    with store.read() as session:
        found = judgements.read(session)

    assert {name[0]: one.verdict.value for name, one in found.items()} == {"a": "true", "b": "false"}


@pytest.mark.slow
def test_migration_labels_earlier_runs_with_their_branch_and_commit(store: Store) -> None:
    run = (
        "INSERT INTO run (id, kind, state, root, root_raw, snapshot_id, executor, options, version, created_at)"
        " VALUES (:id, 'sec.fast', 'done', '/x', :raw, 's', 'local:w', :options, '0', 1)"
    )
    checkout = '{"checkout": {"branch": "main", "commit": null}}'
    with at_revision(store, "0011") as connection:
        connection.execute(
            text("INSERT INTO snapshot (id, files, bytes, not_checked, created_at) VALUES ('s',0,0,0,1)")
        )
        for name, options in (("with", checkout), ("without", "{}")):
            connection.execute(text(run), {"id": name, "raw": b"/x", "options": options})

    with store.read() as session:
        labels = run_labels.labels_of(session, ["with", "without"])

    assert labels == {"with": {"branch": "main"}, "without": {}}
