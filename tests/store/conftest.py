"""Two stores on one database, and the interleavings of two transactions on them."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from jarvis_workers.store.engine import Store, open_store
from tests.store.interleaving import Pair, every_interleaving, pair_of

DATABASES = ["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)]
DEPTHS = [pytest.param(False, id="one stop"), pytest.param(True, id="two stops", marks=pytest.mark.long)]


@pytest.fixture(scope="module", params=DATABASES)
def pair(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    """Two stores that stop at each statement, for each database; the tests of a file share them to save time."""
    if request.param == "sqlite":
        url = f"sqlite:///{tmp_path_factory.mktemp('pair')}/jarvis.db"
    else:
        server, name = request.getfixturevalue("postgres_server"), request.module.__name__.replace(".", "_")
        server.sql(f"CREATE DATABASE {name} TEMPLATE template")
        url = server.url(name)
    pair = pair_of(lambda: open_store(url))
    yield pair
    for store in (pair.left, pair.right, pair.onlooker):
        store.close()


@pytest.fixture
def own_pair(store_url: str, open_stores: Callable[..., Store]) -> Pair:
    """Two such stores for a test that reads all runs."""
    return pair_of(lambda: open_stores(store_url))


@pytest.fixture(params=DEPTHS)
def walk(request: pytest.FixtureRequest, pair: Pair) -> Callable[..., Iterator[Any]]:
    """Yield every interleaving with the first side stopped once and, in slow tests, with both."""
    return lambda arrange: every_interleaving(pair, arrange, deep=request.param)
