"""Each error has a known outcome at each place of a worker: docs/architecture/errors.md has the table."""

from pathlib import Path

import pytest

from jarvis_workers.executors.dispatch.broker import Notifier
from jarvis_workers.executors.dispatch.prefork_task import PreforkRunner
from jarvis_workers.runs.request import RunRequest
from jarvis_workers.runs.scan_request import blobs_of, selection_of
from jarvis_workers.runs.submit import submit
from jarvis_workers.sec.runs.scan_input import ScanInput
from jarvis_workers.sec.stages.options import SecOptions
from jarvis_workers.settings import Settings
from jarvis_workers.snapshots.reader import open_snapshot
from jarvis_workers.snapshots.resources import Resources
from jarvis_workers.store.engine import open_store
from tests.bench.trees import make_tree
from tests.executors.dispatch.error_table import (
    CLASSES,
    ERRNOS,
    LOST_COMMIT,
    REDIS_ERRORS,
    SPECIAL_STATES,
    TableMaker,
    Template,
    read,
    written,
)
from tests.store.arrange import enrol, job_rows, run_now
from tests.support.proxy import proxy_to
from tests.support.servers import Redis

PAGE = Path(__file__).parents[3] / "docs" / "architecture" / "errors.md"
ENDS = ("internal error", "jobs are lost")
# Outcomes at the first of which a person sees the file or the run as not checked.
CHARGED = ("file not checked", "attempt fails", "the run pauses")
OF_THE_HOST = ("EIO", "ENOSPC", "EMFILE", "ENFILE", "ESTALE", "EROFS", "ENOMEM", "EDQUOT", "ETIMEDOUT", "MemoryError")

pytestmark = [pytest.mark.slow, pytest.mark.timing]


@pytest.fixture(scope="module")
def maker(tmp_path_factory: pytest.TempPathFactory) -> TableMaker:
    home = tmp_path_factory.mktemp("template")
    settings = Settings(data_dir=home / "data")
    make_tree(home / "tree", 1)
    store = open_store(settings.effective_store_url)
    blobs = blobs_of(settings)
    options = SecOptions(min_confidence=0.0, batch_files=10, batch_bytes=1_000_000, processes=1)
    request = RunRequest(
        run_id="r1",
        kind="sec.fast",
        path=home / "tree",
        selection=selection_of(settings),
        executor="cluster",
        run_input=ScanInput(options),
    )
    run = submit(store, blobs, request)
    enrol(store, "planner")
    (plan,) = job_rows(store, run, plan=True)
    PreforkRunner("planner", 60.0, lambda: (store, Resources(blobs), lambda: None), 30.0).do(plan.id)
    (scan,) = job_rows(store, run)
    with open_snapshot(blobs, run_now(store, run).snapshot_id) as reader:
        shard = reader.index.shards[0]
    store.close()
    return TableMaker(Template(settings.data_dir, run, scan.id, shard), tmp_path_factory.mktemp("cells"))


def test_each_error_has_its_outcome_at_each_place(maker: TableMaker, redis_here: Redis) -> None:
    table = {state: maker.database_row(state) for state in (*CLASSES, *SPECIAL_STATES)}
    table[LOST_COMMIT] = maker.lost_commit_row()
    with proxy_to(redis_here.port) as proxy:
        for name in REDIS_ERRORS:
            notifier = Notifier(f"redis://127.0.0.1:{proxy.port}/0")
            proxy.reply_to_redis(f"{name} an error reply")
            table[name] = maker.redis_row(notifier)
            notifier.close()
    table |= {name: maker.errno_row(name) for name in ERRNOS}
    table["MemoryError"] = maker.host_row(MemoryError)

    outcomes = {outcome for row in table.values() for outcome in row.values()}
    assert outcomes.isdisjoint(ENDS), written(table)
    for name in OF_THE_HOST:
        assert not {place for place, outcome in table[name].items() if outcome in CHARGED and place != "one blob"}, name
    assert read(PAGE.read_text()) == table, written(table)
