"""Two workers together obey a provider's limits, as measured by the provider, and nearly exhaust them."""

from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from jarvis_workers.executors.dispatch.sender import EXECUTOR
from jarvis_workers.snapshots.resources import open_blobs
from jarvis_workers.store.engine import Store
from tests.bench import rounds
from tests.bench.strictserver import StrictServer, strict_server
from tests.bench.test_agents import USUAL_PACE, wait_for_all
from tests.executors.dispatch.talking import Place
from tests.support.servers import redis_server
from tests.support.settings_files import write_settings

pytestmark = [pytest.mark.bench, pytest.mark.timeout(300)]

Converse = Callable[..., set[str]]


@pytest.fixture
def converse(tmp_path: Path, postgres_url: str, open_stores: Callable[..., Store]) -> Converse:
    """Hold this many conversations with a server on two workers; return the final states of the runs."""
    store = open_stores(postgres_url)

    def lead(server: StrictServer, conversations: int, **limits: float) -> set[str]:
        tree, names = rounds.make_tree(tmp_path), [f"r{number}" for number in range(conversations)]
        rounds.add_runs(store, open_blobs(str(tmp_path / "blobs"), tmp_path / "cache"), tree, names, EXECUTOR)
        group = {**rounds.model_at(server.url), **limits}
        write_settings(tmp_path, {"log_level": "warning", "models": {rounds.GROUP: group}}, tmp_path / "data")
        with redis_server() as broker:
            place = Place(store, postgres_url, broker, tmp_path)
            with place.worker(USUAL_PACE), place.worker(USUAL_PACE):
                states = wait_for_all(store)
        print(
            f"\n{limits}: {len(server.began)} requests, {server.pace():.2f} a second, at most {server.most} at once "
            f"and {server.fullest(1.0)} in a second, {server.refused} refused; load {psutil.getloadavg()[0]:.1f}"
        )
        assert server.finished == conversations
        return states

    return lead


def test_fifty_at_once_that_take_two_seconds_each(converse: Converse) -> None:
    with strict_server(2.0, answers=8) as server:
        assert converse(server, 120, concurrent=50) == {"done"}

    assert server.most <= 50
    assert server.pace() >= 0.9 * 25


def test_a_hundred_requests_a_second(converse: Converse) -> None:
    with strict_server(0.1, answers=20) as server:
        assert converse(server, 120, requests_per_second=100) == {"done"}

    assert server.fullest(1.0) <= 100
    assert server.pace() >= 90


@pytest.mark.parametrize("limits", [{"concurrent": 50}, {}], ids=["limited", "unlimited"])
def test_a_storm_of_429s_of_half_a_minute(converse: Converse, limits: dict[str, float]) -> None:
    with strict_server(0.5, answers=12, storm=(3.0, 33.0)) as server:
        assert converse(server, 60, **limits) == {"done"}

    assert server.refused <= 3 * 60
