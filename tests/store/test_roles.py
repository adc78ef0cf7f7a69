"""The role that workers have: it does all that a run needs, and nothing else."""

from collections.abc import Callable

import pytest
from sqlalchemy import text

from jarvis_workers.errors import StoreError, StoreRefused, UsageError
from jarvis_workers.pipeline.store_retry import retry_store
from jarvis_workers.store import artifacts, leases
from jarvis_workers.store.engine import Store, open_store
from jarvis_workers.store.revisions import REVISIONS
from jarvis_workers.store.roles import role_statements
from tests.store.arrange import add_run, run_to_its_end
from tests.support.servers import Postgres

OWNER, WORKER = "jarvis_owner", "jarvis_worker"
Migrate = Callable[[], Store]


@pytest.fixture
def database(postgres_server: Postgres) -> str:
    """A database with both roles and no table."""
    postgres_server.sql("DROP DATABASE IF EXISTS with_roles")
    postgres_server.sql("CREATE DATABASE with_roles")
    postgres_server.sql(role_statements(OWNER, WORKER), "with_roles")
    return "with_roles"


@pytest.fixture
def worker_url(postgres_server: Postgres, database: str) -> str:
    return postgres_server.url(database, WORKER)


@pytest.fixture
def store(postgres_server: Postgres, database: str, worker_url: str, open_stores: Callable[..., Store]) -> Store:
    """The store as a worker sees it."""
    open_stores(postgres_server.url(database, OWNER), migrate=True)
    return open_stores(worker_url)


def test_a_worker_carries_a_run_to_its_end(store: Store) -> None:
    assert run_to_its_end(store, add_run(store)).state == "done"
    with store.write() as session:
        artifacts.lock_uses(session)


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("CREATE TABLE more (id int)", "permission denied for schema public"),
        ("CREATE TEMPORARY TABLE more (id int)", "permission denied to create temporary tables"),
        ("CREATE SCHEMA more", "permission denied for database"),
        ("ALTER TABLE job ADD COLUMN more int", "must be owner of table job"),
        ("DROP TABLE candidate", "must be owner of table candidate"),
        ("TRUNCATE candidate", "permission denied for table candidate"),
        ("DROP INDEX ix_job_lease", "must be owner of index ix_job_lease"),
        ("SELECT * FROM other.secret", "permission denied for schema other"),
        ("DELETE FROM alembic_version", "permission denied for table alembic_version"),
        ("UPDATE alembic_version SET version_num = ''", "permission denied for table alembic_version"),
        ("SELECT lo_create(0)", "permission denied for function lo_create"),
        ("SELECT lo_from_bytea(0, '')", "permission denied for function lo_from_bytea"),
    ],
)
def test_a_worker_does_nothing_else(
    postgres_server: Postgres, store: Store, database: str, statement: str, said: str
) -> None:
    postgres_server.sql("CREATE SCHEMA other; CREATE TABLE other.secret (id int)", database)

    with pytest.raises(StoreError, match=said), store.write() as session:
        session.execute(text(statement))


def test_a_later_table_is_a_workers_too(
    postgres_server: Postgres, store: Store, database: str, open_stores: Callable[..., Store]
) -> None:
    with open_stores(postgres_server.url(database, OWNER)).write() as session:
        session.execute(text("CREATE TABLE later (id SERIAL, said TEXT)"))

    with store.write() as session:
        session.execute(text("INSERT INTO later (said) VALUES ('mine')"))
        assert session.execute(text("SELECT id, said FROM later")).one() == (1, "mine")


@pytest.mark.slow
def test_a_store_that_somebody_else_has_migrated_is_handed_over(
    postgres_server: Postgres, open_stores: Callable[..., Store]
) -> None:
    postgres_server.sql("CREATE DATABASE handed_over TEMPLATE template")
    for _ in range(2):
        postgres_server.sql(role_statements(OWNER, WORKER), "handed_over")

    owner = open_stores(postgres_server.url("handed_over", OWNER))
    with owner.write() as session:
        session.execute(text("ALTER TABLE job ADD COLUMN more int"))
    store = open_stores(postgres_server.url("handed_over", WORKER))
    assert run_to_its_end(store, add_run(store)).state == "done"


def test_what_is_there_already_is_not_news(postgres_server: Postgres, database: str) -> None:
    assert postgres_server.sql(role_statements(OWNER, WORKER), database) == ""


@pytest.mark.slow
def test_a_user_who_may_not_connect_is_told_what_to_look_at(
    postgres_server: Postgres, store: Store, database: str
) -> None:
    postgres_server.sql(f"REVOKE CONNECT ON DATABASE {database} FROM {WORKER}", database)

    with pytest.raises(
        StoreError, match=r"permission denied for database .*; check user, password and permissions; see"
    ):
        open_store(store.engine.url.render_as_string(hide_password=False))


def test_a_worker_that_migrates_is_told_in_one_line_what_is_missing(
    worker_url: str, open_stores: Callable[..., Store]
) -> None:
    with pytest.raises(StoreError, match=r"permission denied for schema public; .* jarvis admin roles") as problem:
        open_stores(worker_url, migrate=True)
    assert "\n" not in str(problem.value)


def test_a_worker_that_migrates_further_is_told_in_one_line_what_is_missing(
    postgres_server: Postgres, store: Store, database: str, worker_url: str, open_stores: Callable[..., Store]
) -> None:
    postgres_server.sql(f"UPDATE alembic_version SET version_num = '{REVISIONS[-2]}'", database)

    with pytest.raises(StoreError, match=r"(must be owner of|permission denied for) .* jarvis admin roles") as problem:
        open_stores(worker_url, migrate=True)
    assert "\n" not in str(problem.value)


@pytest.mark.slow
def test_a_permission_that_is_missing_for_a_while_is_borne(
    postgres_server: Postgres, store: Store, database: str
) -> None:
    postgres_server.sql(f"REVOKE INSERT ON lease FROM {WORKER}", database)
    refusals: list[StoreRefused] = []

    def take() -> bool:
        try:
            with store.write() as session:
                return leases.take(session, "one", "me", 60)
        except StoreRefused as error:
            refusals.append(error)
            postgres_server.sql(f"GRANT INSERT ON lease TO {WORKER}", database)
            raise

    assert retry_store(take)
    assert len(refusals) == 1
    assert "permission denied for table lease; this user lacks the permission, see: jarvis admin roles" in str(
        refusals[0]
    )


@pytest.mark.parametrize(
    ("owner", "worker", "said"),
    [
        ("jarvis_owner", 'a"b', "is not a valid role name"),
        ("x'; DROP TABLE job; --", "jarvis_worker", "is not a valid role name"),
        ("same", "same", "should not own the tables"),
    ],
)
def test_a_name_that_is_none_is_refused(owner: str, worker: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        role_statements(owner, worker)
