"""A run on workers ends with the report of a local run, whatever outages its servers, disks and machines have.

By hand: CAMPAIGN_SEEDS=20, and CAMPAIGN_FIRST_SEED for a part of them; CAMPAIGN_OUTAGES names the outages to draw from.
"""

import os
import random
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from jarvis_workers.store.engine import Store
from tests.bench.trees import make_tree
from tests.chaos.commands import scan_of as progress_of
from tests.chaos.commands import until
from tests.chaos.fleet import Fleet, fleet_of
from tests.chaos.outages import OUTAGES, lasting, mounted
from tests.chaos.test_fleet import ONE_EACH, SEEDS, assert_nothing_is_left, last_run, report
from tests.store.arrange import job_rows, run_now
from tests.support.servers import Postgres, redis_server

pytestmark = [pytest.mark.slow, pytest.mark.long, pytest.mark.timing]

FILES = 300
OUTAGES_A_RUN = int(os.environ.get("CAMPAIGN_OUTAGES_A_RUN", "6"))
NAMES = os.environ.get("CAMPAIGN_OUTAGES", "")
LEAST_APART, MOST_APART = 4, 12
RUN_SECONDS = 900.0
DISK = "size=256m"
# What is said when a pool ends, and by an end without a name.
ENDINGS = ("; restarting it", "internal error", "Unrecoverable error")


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("outages") / "tree"
    make_tree(root, FILES)
    return root


@pytest.fixture
def fleet(tmp_path: Path, own_postgres: Postgres, open_stores: Callable[..., Store]) -> Iterator[Fleet]:
    """Two workers whose blobs are on a disk of their own."""
    store = open_stores(own_postgres.url("template"))
    (tmp_path / "disk").mkdir()
    with ExitStack() as stack:
        try:
            stack.enter_context(mounted(tmp_path / "disk", DISK))
        except subprocess.CalledProcessError:
            pytest.skip("this user may not mount file systems in memory")
        bell = stack.enter_context(redis_server())
        blobs = {"JARVIS_BLOBS_URL": str(tmp_path / "disk" / "blobs")}
        yield stack.enter_context(fleet_of(tmp_path, bell, own_postgres, store, **ONE_EACH, **blobs))


@pytest.mark.timeout(1200 * len(SEEDS))
def test_whatever_outages_there_are_no_process_ends_and_the_report_is_the_one_of_a_calm_run(
    fleet: Fleet, tree: Path, calm: Any
) -> None:
    faults = []
    for seed in SEEDS:
        before = fleet.said()
        run, outages, minutes = run_with_outages(fleet, tree, random.Random(seed))
        said = fleet.said()
        counts = [said.count(words) - before.count(words) for words in ENDINGS]
        ended = [worker.process.poll() for worker in fleet.workers if worker.process.poll() is not None]
        state = run_now(fleet.store, run).state
        same = state == "done" and report(fleet, run) == calm
        wasted = sum(row.fence - 1 for row in job_rows(fleet.store, run))
        print(
            f"seed {seed}: {', '.join(outages)}: {minutes:.1f} min, pools ended {counts[0]}, "
            f"workers ended {len(ended)}, internal errors {counts[1]}, unrecoverable errors {counts[2]}, "
            f"run {state}, wasted {wasted}, same bytes {same}",
            flush=True,
        )
        if any(counts) or ended or not same:
            faults.append((seed, said))
    assert not faults, "\n".join(f"seed {seed}:\n{said}" for seed, said in faults)
    assert_nothing_is_left(fleet)


def run_with_outages(fleet: Fleet, tree: Path, dice: random.Random) -> tuple[str, list[str], float]:
    """Submit a run, and wait for its end; return its id, the outages that it met, and its minutes."""
    began, before = time.monotonic(), last_run(fleet)
    fleet.waiting = fleet.command("sec", "fast", "-p", str(tree), "-q", "-o", "report.json")
    until(lambda: last_run(fleet) != before and progress_of(fleet.store).jobs == FILES)
    chosen = [outage for outage in OUTAGES if not NAMES or outage.__name__ in NAMES.split(",")]
    met = []
    for outage in dice.sample(chosen, min(OUTAGES_A_RUN, len(chosen))):
        goal = progress_of(fleet.store).done + dice.randint(LEAST_APART, MOST_APART)
        if goal > FILES - MOST_APART:
            break
        until(lambda goal=goal: progress_of(fleet.store).done >= goal)  # type: ignore[misc]
        print(
            f"{fleet.store.now() % 1000:9.2f} s  {progress_of(fleet.store).done:4} done  {outage.__name__}", flush=True
        )
        met.append(outage.__name__)
        lasting(outage)(fleet, dice)
        print(f"{fleet.store.now() % 1000:9.2f} s  {progress_of(fleet.store).done:4} done  over", flush=True)
    assert fleet.waiting.wait(RUN_SECONDS) == 0, fleet.said()[-20_000:]
    return last_run(fleet), met, (time.monotonic() - began) / 60
