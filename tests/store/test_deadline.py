"""Connections to PostgreSQL that fall silent: every statement has a timeout, and a slow one is not a lost one."""

import threading
import time
from collections.abc import Callable, Iterator

import pytest
from sqlalchemy import text

from jarvis_workers.errors import StoreUnavailable
from jarvis_workers.store import leases
from jarvis_workers.store.deadline import IDLE_SECONDS
from jarvis_workers.store.engine import Store
from tests.support.proxy import Proxy, proxy_to
from tests.support.servers import Postgres

SECONDS = 0.5
SLOW = text(f"SELECT pg_sleep({3 * SECONDS})")


@pytest.fixture
def proxy(postgres_server: Postgres) -> Iterator[Proxy]:
    with proxy_to(postgres_server.socket) as proxy:
        yield proxy


@pytest.fixture
def behind(proxy: Proxy, postgres_url: str, open_stores: Callable[..., Store]) -> Store:
    """A store behind the proxy, with short timeouts and a connection open."""
    return open_stores(Postgres.url_of(proxy.port, postgres_url), statement_seconds=SECONDS)


@pytest.mark.timing
def test_a_silent_connection_is_a_timeout_and_the_next_statement_goes_over_a_new_one(
    behind: Store, proxy: Proxy
) -> None:
    behind.now()
    proxy.stall()
    begun = time.monotonic()
    with pytest.raises(StoreUnavailable, match=r"no response for \d+ s; the connection was closed"):
        behind.now()

    assert time.monotonic() - begun < SECONDS + 1
    assert behind.now() > 0


@pytest.mark.slow
def test_a_server_that_falls_silent_altogether_is_a_timeout_and_is_reached_when_it_answers(
    behind: Store, proxy: Proxy
) -> None:
    behind.now()
    proxy.stall(new=True)
    for _ in range(2):
        with pytest.raises(StoreUnavailable):
            behind.now()
    proxy.accept()

    assert behind.now() > 0


@pytest.mark.slow
@pytest.mark.timing
def test_a_slow_statement_has_no_timeout_while_the_server_executes_it(behind: Store) -> None:
    with behind.read() as session:
        session.execute(SLOW)

    assert behind.deadline.alive_at > time.monotonic() - 3 * SECONDS


@pytest.mark.slow
@pytest.mark.timing
def test_a_slow_statement_has_a_timeout_in_the_end(behind: Store) -> None:
    behind.deadline.execution_seconds = SECONDS
    with pytest.raises(StoreUnavailable, match="no response"), behind.read() as session:
        session.execute(SLOW)

    behind.deadline.lift_execution_limit()
    with behind.read() as session:
        session.execute(SLOW)


@pytest.mark.slow
def test_a_slow_statement_whose_answer_is_lost_is_a_timeout(behind: Store, proxy: Proxy) -> None:
    with pytest.raises(StoreUnavailable), behind.read() as session:
        session.execute(text("SELECT 1"))
        stall = threading.Timer(SECONDS / 2, proxy.stall)
        stall.start()
        session.execute(SLOW)
    stall.join()

    assert behind.now() > 0


@pytest.mark.timing
def test_a_shorter_deadline_holds_for_a_statement_that_is_waiting_already(behind: Store) -> None:
    behind.deadline.statement_seconds = 60.0
    hurry = threading.Timer(0.2, behind.deadline.shorten, [0.1])
    begun = time.monotonic()
    hurry.start()
    with pytest.raises(StoreUnavailable), behind.read() as session:
        session.execute(text("SELECT pg_sleep(30)"))
    hurry.join()

    assert time.monotonic() - begun < 5


def test_locks_of_a_silent_connection_are_released_by_the_idle_timeout(behind: Store, proxy: Proxy) -> None:
    behind.deadline.idle_seconds = SECONDS
    behind.engine.dispose()
    with pytest.raises(StoreUnavailable), behind.write() as session:
        leases.take(session, "one", "silent", 60.0)
        proxy.stall()
        session.execute(text("SELECT 1"))

    assert take(behind, "other")


def test_a_transaction_that_pauses_has_no_idle_timeout(behind: Store) -> None:
    idle = text("SELECT current_setting('idle_in_transaction_session_timeout')")
    with behind.write() as session:
        limited = session.execute(idle).scalar_one()
    with behind.write(pauses=True) as session:
        unlimited = session.execute(idle).scalar_one()

    assert (limited, unlimited) == (f"{IDLE_SECONDS:.0f}s", "0")


def test_a_connection_that_is_cut_within_a_message_is_unavailable_once(behind: Store, proxy: Proxy) -> None:
    behind.now()
    proxy.halve()
    with pytest.raises(StoreUnavailable):
        behind.now()

    assert behind.now() > 0


@pytest.mark.slow
def test_a_read_only_database_is_unavailable_until_it_can_be_written_again(
    postgres_server: Postgres, postgres_url: str, open_stores: Callable[..., Store]
) -> None:
    database = postgres_url.partition("?")[0].rpartition("/")[2]
    store = open_stores(postgres_url)
    switch = f"ALTER DATABASE {database} SET default_transaction_read_only"
    postgres_server.sql(f"{switch} = on")
    store.engine.dispose()
    with pytest.raises(StoreUnavailable, match=r"the database is read-only, possibly a standby; see JARVIS_STORE_URL"):
        take(store)
    postgres_server.sql(f"{switch} = off")

    assert take(store)


def test_a_transaction_that_the_server_has_ended_is_unavailable_once(
    postgres_server: Postgres, postgres_url: str, open_stores: Callable[..., Store]
) -> None:
    store = open_stores(f"{postgres_url}&application_name=ended")
    end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'ended'"
    with pytest.raises(StoreUnavailable), store.write() as session:
        leases.take(session, "one", "me", 60.0)
        postgres_server.sql(end)
        session.execute(text("SELECT 1"))

    assert take(store)


def take(store: Store, holder: str = "me") -> bool:
    with store.write() as session:
        return leases.take(session, "one", holder, 60.0)
