"""Fixtures: Redis servers, and a store with an adjustable clock."""

from collections.abc import Callable, Iterator

import pytest

from jarvis_workers.executors.dispatch.broker import Notifier
from jarvis_workers.store.engine import Store
from tests.store.clocks import FakeClock
from tests.support.servers import Redis, redis_server


@pytest.fixture(scope="session")
def redis_of_all() -> Iterator[Redis]:
    """One server for all tests."""
    with redis_server() as server:
        yield server


@pytest.fixture
def redis_here(redis_of_all: Redis) -> Redis:
    """An empty Redis server."""
    redis_of_all.flush()
    return redis_of_all


@pytest.fixture
def notifier(redis_here: Redis) -> Iterator[Notifier]:
    notifier = Notifier(redis_here.url)
    yield notifier
    notifier.close()


@pytest.fixture
def timed_store(sqlite_url: str, open_stores: Callable[..., Store], clock: FakeClock) -> Store:
    """An empty store whose clock the test advances."""
    return open_stores(sqlite_url, clock=clock)
