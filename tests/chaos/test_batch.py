"""A batch, as the Job of the chart runs it: a pod that is killed half-way is replaced, and the report is the same."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from jarvis_workers.store.engine import Store
from jarvis_workers.store.runs import newest
from tests.bench.trees import make_tree
from tests.chaos.commands import scan_of, until
from tests.chaos.fleet import Fleet, fleet_of
from tests.support.s3 import BUCKET, S3, s3_server
from tests.support.servers import Postgres, redis_server

pytestmark = [pytest.mark.slow, pytest.mark.timing]

FILES = 100


def start_pod(fleet: Fleet, number: int, tree: Path, name: str, environ: Mapping[str, str]) -> None:
    """Start the command of a batch in a data directory of its own, as every pod has one."""
    data = fleet.home / f"pod{number}"
    options = ("--where", "cluster", "--name", name, "--no-cache", "-o", f"s3://{BUCKET}/{name}.json")
    settings = {**environ, "JARVIS_DATA_DIR": str(data)}
    fleet.waiting = fleet.command("sec", "fast", "-p", str(tree), *options, **settings)


def findings(s3: S3, name: str) -> dict[str, Any]:
    """Return the report of a batch without what it says of its run."""
    report = json.loads(s3.objects()[f"{name}.json"])
    return {part: content for part, content in report.items() if part != "run"}


def test_batch_killed_half_way_goes_on_by_its_name_and_ends_with_the_same_report(
    tmp_path: Path, own_postgres: Postgres, open_stores: Callable[..., Store]
) -> None:
    tree = tmp_path / "tree"
    make_tree(tree, FILES)
    store = open_stores(own_postgres.url("template"))
    with (
        s3_server() as s3,
        redis_server() as bell,
        fleet_of(tmp_path, bell, own_postgres, store, JARVIS_SCAN__BATCH_FILES="1") as fleet,
    ):
        start_pod(fleet, 1, tree, "calm", s3.environ)
        fleet.wait(0)
        start_pod(fleet, 2, tree, "killed", s3.environ)
        until(lambda: _runs(store) == 2 and scan_of(store).done >= FILES // 4)
        assert fleet.waiting is not None
        fleet.waiting.kill()
        fleet.waiting.wait()
        half_way = scan_of(store).done
        # Otherwise the workers may finish the run before the new pod has started.
        workers = fleet.everybody()
        for process in workers:
            process.suspend()
        start_pod(fleet, 3, tree, "killed", s3.environ)
        until(lambda: '"killed" is run' in fleet.said())
        for process in workers:
            process.resume()
        fleet.wait(0)

        assert half_way < FILES
        assert _runs(store) == 2, "the second pod has submitted again"
        assert findings(s3, "killed") == findings(s3, "calm")
        assert findings(s3, "calm")["summary"]["total"] > 0
        assert "which continues" in fleet.said()

        start_pod(fleet, 4, tree / "d0000", "killed", s3.environ)
        fleet.wait(2)
        assert "which has another source or other options; choose another name" in fleet.said()


def _runs(store: Store) -> int:
    with store.read() as session:
        return len(newest(session, 5))
