"""A local run ends with the same report, whatever is killed, frozen or away on the way."""

import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from jarvis_workers.store import events
from jarvis_workers.store.engine import Store
from jarvis_workers.store.runs import newest
from tests.bench.trees import make_tree
from tests.chaos.commands import command, scan_of, until
from tests.support.servers import Postgres

pytestmark = [pytest.mark.slow, pytest.mark.timing]

FILES = 120
QUICK = {"JARVIS_LEASE_SECONDS": "1.5", "JARVIS_TICK_SECONDS": "0.1", "JARVIS_SCAN__BATCH_FILES": "3"} | {
    "JARVIS_SCAN__SMALL_FILES": "0"
}


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("chaos") / "tree"
    make_tree(root, FILES)
    return root


@pytest.fixture
def sqlite(tmp_path: Path, open_stores: Callable[..., Store]) -> Callable[[], Store]:
    """Open the store of the commands under test."""
    (tmp_path / "data").mkdir()
    return lambda: open_stores(f"sqlite:///{tmp_path / 'data' / 'jarvis.db'}")


def scan(home: Path, tree: Path, **settings: str) -> Any:
    return command(home, "sec", "fast", "-p", str(tree), "-j", "2", **QUICK | settings)


def happened(store: Store, name: str) -> list[dict[str, Any]]:
    with store.read() as session:
        return [event for event in events.read(session, newest(session, 1)[0].id) if event["name"] == name]


def test_a_killed_child_costs_nothing_but_its_batch_once_more(
    tmp_path: Path, tree: Path, calm: Any, sqlite: Any
) -> None:
    with scan(tmp_path, tree) as running:
        for _ in range(2):
            running.frozen_child().kill()
        code, said = running.ends()

        assert (code, running.body()) == (0, calm), said
    assert 1 <= len(happened(sqlite(), "crashed")) <= 2


def test_a_killed_command_is_resumed_at_once_and_leaves_no_orphan(
    tmp_path: Path, tree: Path, calm: Any, sqlite: Any
) -> None:
    with scan(tmp_path, tree) as running:
        store = sqlite()
        until(lambda: _runs(store) and scan_of(store).done >= 3)
        children = running.children()
        running.process.kill()
        running.ends()
    _, alive = psutil.wait_procs(children, timeout=20)
    assert alive == []

    with command(tmp_path, "runs", "resume", "last", **QUICK) as resumed:
        code, said = resumed.ends()

        assert (code, resumed.body()) == (0, calm), said
    assert scan_of(store).crashes == 0


def test_a_command_frozen_for_longer_than_a_lease_goes_on(tmp_path: Path, tree: Path, calm: Any, sqlite: Any) -> None:
    with scan(tmp_path, tree) as running:
        store = sqlite()
        until(lambda: _runs(store) and scan_of(store).done >= 3)
        running.process.send_signal(signal.SIGSTOP)
        woken_after = store.now() + 2 * float(QUICK["JARVIS_LEASE_SECONDS"])
        until(lambda: store.now() > woken_after)
        running.process.send_signal(signal.SIGCONT)
        code, said = running.ends()

        assert (code, running.body()) == (0, calm), said


def test_what_kills_its_process_every_time_is_not_checked_and_can_be_retried(
    tmp_path: Path, tree: Path, calm: Any, sqlite: Any
) -> None:
    with command(tmp_path, "sec", "fast", "-p", str(tree), "-j", "1") as running:
        killed = {running.frozen_child() for _ in range(1)}
        for child in killed:
            child.kill()
        while len(killed) < 3:
            child = until(lambda: next((one for one in running.children() if one not in killed), None))
            child.kill()
            killed.add(child)
        code, said = running.ends()

        assert code == 3, said
        missing = running.body()["summary"]["not_checked"]
        assert len(missing) == FILES
        assert {entry["reason"] for entry in missing} == {"its batch failed: crashed: killed by SIGKILL"}

    with command(tmp_path, "runs", "retry", "last") as again:
        code, said = again.ends()
        assert (code, again.body()) == (0, calm), said


def test_a_batch_that_takes_too_long_is_given_up_by_name(tmp_path: Path, tree: Path) -> None:
    limit = {"JARVIS_SCAN__HARD_LIMIT_SECONDS": "0.001", "JARVIS_TICK_SECONDS": "0.02"}
    with command(tmp_path, "sec", "fast", "-p", str(tree), "-j", "1", **limit) as running:
        code, said = running.ends()

        assert code == 3, said
        reasons = {entry["reason"] for entry in running.body()["summary"]["not_checked"]}
        assert reasons == {"its batch failed: crashed: exceeded the hard limit of 0.001 s"}


def test_ctrl_c_leaves_a_run_that_can_be_resumed(tmp_path: Path, tree: Path, calm: Any, sqlite: Any) -> None:
    with scan(tmp_path, tree) as running:
        running.frozen_child()
        running.process.send_signal(signal.SIGINT)
        code, said = running.ends()
    assert code == 130
    assert "jarvis runs resume" in said
    with sqlite().read() as session:
        assert newest(session, 1)[0].state == "paused"

    with command(tmp_path, "runs", "resume", "last", **QUICK) as resumed:
        code, said = resumed.ends()
        assert (code, resumed.body()) == (0, calm), said


def test_a_database_that_goes_away_is_waited_for(
    tmp_path: Path, tree: Path, calm: Any, own_postgres: Postgres, open_stores: Callable[..., Store]
) -> None:
    url = own_postgres.url("template")
    with scan(tmp_path, tree, JARVIS_STORE_URL=url) as running:
        child = running.frozen_child()
        own_postgres.stop()
        child.send_signal(signal.SIGCONT)
        heard = running.process.stderr
        assert heard is not None
        assert "waiting up to" in heard.readline()
        own_postgres.start()
        code, said = running.ends()

        assert (code, running.body()) == (0, calm), said


def _runs(store: Store) -> bool:
    with store.read() as session:
        return bool(newest(session, 1))
