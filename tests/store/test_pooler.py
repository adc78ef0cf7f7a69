"""A store behind pgbouncer with transaction pooling: any transaction may have another connection to the server."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import text

from jarvis_workers.errors import StoreError, StoreRefused
from jarvis_workers.store.engine import Store, open_store
from tests.store.arrange import add_planned_run, run_to_its_end
from tests.support.servers import Postgres, pgbouncer

THREADS, ROUNDS = 3, 40
PREPARED = text("SELECT count(*) FROM job")


@pytest.fixture(scope="module")
def pooler(postgres_server: Postgres) -> Iterator[int]:
    with pgbouncer(postgres_server) as port:
        yield port


@pytest.fixture
def pooled_url(postgres_url: str, pooler: int) -> str:
    """The address of a migrated database behind the pooler."""
    return Postgres.url_of(pooler, postgres_url).replace("jarvis@", "jarvis:secret@")


@pytest.fixture
def pooled(pooled_url: str, open_stores: Callable[..., Store]) -> Store:
    return open_stores(pooled_url, connections=THREADS)


@pytest.mark.slow
def test_threads_that_share_pooled_connections_get_their_answers(pooled: Store) -> None:
    def ask() -> None:
        for _ in range(ROUNDS):
            pooled.now()
            with pooled.write() as session:
                session.execute(PREPARED)
                session.execute(text("SELECT count(*) FROM run"))

    with ThreadPoolExecutor(THREADS) as threads:
        for done in [threads.submit(ask) for _ in range(THREADS)]:
            done.result()


@pytest.mark.slow
def test_a_run_ends_behind_a_pooler(pooled: Store) -> None:
    assert run_to_its_end(pooled, add_planned_run(pooled, scans=5)).state == "done"


@pytest.mark.slow
def test_a_store_is_migrated_behind_a_pooler(postgres_server: Postgres, pooler: int) -> None:
    postgres_server.sql("CREATE DATABASE migrated_behind")
    open_store(f"postgresql://jarvis:secret@127.0.0.1:{pooler}/migrated_behind", migrate=True).close()


def test_the_limit_of_idle_transactions_holds_for_this_client_alone(
    postgres_server: Postgres, postgres_url: str, pooled: Store, open_stores: Callable[..., Store]
) -> None:
    limit = text("SELECT current_setting('idle_in_transaction_session_timeout')")
    with pooled.read() as session:
        assert session.execute(limit).scalar_one() == "10s"
    # Another client of the pooler, which may get the same connection to the server.
    with pooled.engine.connect() as other:
        driver = other.connection.driver_connection
        assert driver is not None
        driver.autocommit = True
        with driver.cursor() as cursor:
            assert cursor.execute(str(limit)).fetchone() == ("0",)
    with open_stores(postgres_url).read() as session:
        assert session.execute(limit).scalar_one() == "10s"


@pytest.mark.slow
@pytest.mark.timing
def test_a_slow_statement_is_found_behind_a_pooler(pooled_url: str, open_stores: Callable[..., Store]) -> None:
    hasty = open_stores(pooled_url, statement_seconds=0.5)
    with hasty.read() as session:
        assert session.execute(text("SELECT pg_sleep(1.5), 1")).one()[1] == 1


def test_statements_that_are_prepared_on_request_name_the_remedy(
    pooled_url: str, open_stores: Callable[..., Store]
) -> None:
    stores = [open_stores(f"{pooled_url}?prepare_threshold=0", connections=1) for _ in range(THREADS)]
    barrier = threading.Barrier(THREADS)

    def prepare(store: Store) -> None:
        barrier.wait()
        for _ in range(ROUNDS):
            with store.read() as session:
                session.execute(PREPARED)

    with ThreadPoolExecutor(THREADS) as threads:
        errors = [one.exception() for one in [threads.submit(prepare, store) for store in stores]]

    problem = next(error for error in errors if error)
    assert isinstance(problem, StoreError)
    assert "prepared statement" in str(problem)
    assert str(problem).endswith("set prepare_threshold=none in JARVIS_STORE_URL")


def test_a_pooler_that_refuses_an_option_is_told(pooled_url: str) -> None:
    with pytest.raises(StoreRefused, match="unsupported startup parameter: options; a connection pooler refuses"):
        open_store(f"{pooled_url}?options=-c%20statement_timeout%3D0")


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ("jarvis:wrong@", "check user, password and permissions"),
        ("eve:secret@", "check user, password and permissions"),
    ],
)
def test_a_pooler_that_refuses_a_user_is_told(pooled_url: str, wrong: str, says: str) -> None:
    with pytest.raises(StoreRefused, match=says) as problem:
        open_store(pooled_url.replace("jarvis:secret@", wrong))
    assert "running?" not in str(problem.value)
    assert "wrong" not in str(problem.value)


@pytest.mark.slow
@pytest.mark.timing
def test_a_pooler_without_its_server_is_an_outage(own_postgres: Postgres) -> None:
    with pgbouncer(own_postgres) as port:
        own_postgres.stop()
        with pytest.raises(StoreError) as problem:
            open_store(f"postgresql://jarvis:secret@127.0.0.1:{port}/template")
        own_postgres.start()
    assert not isinstance(problem.value, StoreRefused)
