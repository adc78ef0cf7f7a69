"""A run on workers ends with the report of a local run, whatever happens to the fleet on the way."""

import json
import os
import random
import re
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from pathlib import Path
from threading import Barrier
from typing import Any

import psutil
import pytest
from sqlalchemy import select

from jarvis_workers.runs.runs import find_run
from jarvis_workers.sec.report import FORMATS
from jarvis_workers.sec.report_json import body_to_json
from jarvis_workers.sec.run_reports.reports import read_body
from jarvis_workers.snapshots.resources import open_blobs
from jarvis_workers.store import events
from jarvis_workers.store.crash_attribution import CRASHES_AT_ALL
from jarvis_workers.store.engine import Store
from jarvis_workers.store.runs import newest
from jarvis_workers.store.sql import now
from jarvis_workers.store.tables import JOB, LEASE, WORKER
from jarvis_workers.store.values import Claimed
from tests.bench.trees import make_tree
from tests.chaos.commands import command, crowd, scan_of, until
from tests.chaos.fleet import (
    LEASE_SECONDS,
    Fault,
    Fleet,
    Hit,
    draw,
    fleet_of,
    kill_pool_child,
    kill_worker,
)
from tests.chaos.poison import poisoned_path
from tests.sec.stages.test_trace_flows import FILES as CALLERS
from tests.sec.stages.test_trace_flows import write
from tests.store.arrange import (
    add_planned_run,
    candidate_count,
    claim,
    commit,
    event_names,
    job_rows,
    lose_commit,
    stage_states,
    tick,
)
from tests.support.installed import install
from tests.support.servers import Postgres, Redis, redis_server

pytestmark = [pytest.mark.slow, pytest.mark.timing]

FILES = 450
FEW_FILES = 150
# Fewer where processes take so long to start that the run is over before; all draws are different.
FAULTS_A_RUN, LEAST_FAULTS = 6, 3
# So many jobs are done between two faults.
LEAST_APART, MOST_APART = 4, 12
NO_HIT = (0.0, "no process was hit")
# In CI as many as it has time for; by hand: CAMPAIGN_SEEDS=10, and CAMPAIGN_FIRST_SEED for a part of them.
FIRST_SEED = int(os.environ.get("CAMPAIGN_FIRST_SEED", "1"))
SEEDS = range(FIRST_SEED, FIRST_SEED + int(os.environ.get("CAMPAIGN_SEEDS", "1")))
ONE_EACH = {"JARVIS_SCAN__BATCH_FILES": "1"}
WASTED = 0.05
# Of the two ticks, what other tests on the same processors may take.
LONG_LEASE, LONG_TICK = 6.0, 1.0
POISONED_FILES = 40
POISON = "d0000/poison.c"
POISON_LINES = 300_000
# What a report says of its run, and nothing else of it.
OF_THE_RUN = {
    "json": (r'"run": \{.*?\n  \}',),
    "markdown": (r"\n## Run\n.*",),
    "sarif": (r'"startTimeUtc":"[^"]*","endTimeUtc":"[^"]*"', r'"run":\{"id".*?"stages":\{.*?\}\}\}'),
    "html": (
        r'<ul class="facts">.*?</ul>',
        r'<details id="run">.*?</details>',
        r'"run":"[0-9a-f]{8}"',
        r"jarvis sec triage [0-9a-f]{8}",
    ),
    "junit": (r'<property name="run\.[^>]*>',),
    "gitlab-sast": (r'"start_time":"[^"]*","end_time":"[^"]*"',),
    **dict.fromkeys(("codequality", "csv", "gcc", "github", "github-summary"), ()),
}
OWN_RULE = """\
- {id: own_log, language: c/cpp, category: crypto, cwe: 117, confidence: 0.5, calls: [old_log],
   message: m, suggestion: s}
"""

Start = Callable[..., AbstractContextManager[Fleet]]


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("fleet") / "tree"
    make_tree(root, FILES)
    return root


@pytest.fixture
def poisoned(tmp_path: Path) -> Path:
    """A tree with a file that takes so long that one can aim."""
    root = tmp_path / "poisoned"
    make_tree(root, POISONED_FILES - 1)
    (root / POISON).write_text("strcpy(a, b);\n" * POISON_LINES)
    return root


@pytest.fixture(scope="module")
def bell() -> Iterator[Redis]:
    with redis_server() as server:
        yield server


@pytest.fixture
def start(tmp_path: Path, bell: Redis, own_postgres: Postgres, open_stores: Callable[..., Store]) -> Start:
    """Start a fleet on empty servers."""
    bell.flush()
    store = open_stores(own_postgres.url("template"))
    return lambda **settings: fleet_of(tmp_path, bell, own_postgres, store, **settings)


@pytest.mark.timeout(600 * len(SEEDS))
def test_whatever_happens_the_report_is_the_one_of_a_calm_run(start: Start, tree: Path, calm: Any) -> None:
    with start(**ONE_EACH) as fleet:
        for seed in SEEDS:
            run = run_under_faults(fleet, tree, random.Random(seed))
            print(f"seed {seed}: {cost(fleet, run)}")

            assert report(fleet, run) == calm
            assert_done_once(fleet, run, calm)
        assert_nothing_is_left(fleet)


def run_under_faults(fleet: Fleet, tree: Path, dice: random.Random) -> str:
    """Submit a run, do things to the fleet while it is on, and wait for its end."""
    before = last_run(fleet)
    fleet.waiting = fleet.command("sec", "fast", "-p", str(tree), "-q", "-o", "report.json")
    until(lambda: last_run(fleet) != before and scan_of(fleet.store).jobs == FILES)
    for n, fault in enumerate(draw(dice, FAULTS_A_RUN)):
        goal = scan_of(fleet.store).done + dice.randint(LEAST_APART, MOST_APART)
        if goal > FILES - MOST_APART and n >= LEAST_FAULTS:
            break
        until(lambda goal=goal: scan_of(fleet.store).done >= goal)  # type: ignore[misc]
        print(f"{fleet.store.now() % 1000:9.2f} s  {scan_of(fleet.store).done:4} done  {fault.__name__}")
        fault(fleet, dice)
    fleet.wait(0)
    print(f"{fleet.store.now() % 1000:9.2f} s  over")
    return last_run(fleet)


def last_run(fleet: Fleet) -> str:
    with fleet.store.read() as session:
        return next((run.id for run in newest(session, 1)), "")


def report(fleet: Fleet, run_id: str) -> Any:
    blobs = open_blobs(fleet.environ["JARVIS_BLOBS_URL"], fleet.home / "cache")
    body = read_body(fleet.store, blobs, find_run(fleet.store, run_id))
    assert not body.suppressed
    return body_to_json(body)


def cost(fleet: Fleet, run_id: str) -> str:
    """Say what the faults have cost: executions, and the longest times from a hit to event and next claim."""
    rows = {row.id: row for row in job_rows(fleet.store, run_id)}
    hits = [hit for hit in fleet.hits if hit.job in rows]
    with fleet.store.read() as session:
        noticed = [event["at"] for event in events.read(session, run_id) if event["name"] in ("crashed", "recovered")]
    told = [(min((at - hit.at for at in noticed if at >= hit.at), default=0.0), hit.fault) for hit in hits]
    again = [(rows[hit.job].started_at - hit.at, hit.fault) for hit in hits if rows[hit.job].fence == hit.fence + 1]
    worst = [f"{seconds:.2f} s ({fault})" for seconds, fault in (max(told, default=NO_HIT), max(again, default=NO_HIT))]
    wasted = sum(row.fence - 1 for row in rows.values())
    return f"{wasted} of {FILES} executions wasted; worst recovery {worst[0]}, worst next claim {worst[1]}"


def assert_done_once(fleet: Fleet, run_id: str, calm: Any) -> None:
    """Every job is done, its candidates are there once, and few were done in vain."""
    rows = job_rows(fleet.store, run_id)
    assert [row.state for row in rows] == ["done"] * FILES
    assert candidate_count(fleet.store, run_id) == calm["summary"]["total"]
    assert sum(row.fence - 1 for row in rows) <= WASTED * FILES


def assert_nothing_is_left(fleet: Fleet) -> None:
    """No process, lease or heartbeat outlives the workers."""
    family = [*fleet.everybody(), *fleet.doomed]
    assert fleet.stop() == [0, 0], fleet.said()
    _, alive = psutil.wait_procs(family, timeout=5 * crowd())
    assert alive == []
    assert [heartbeat for worker in fleet.workers for heartbeat in worker.heartbeats()] == []
    with fleet.store.read() as session:
        held = select(JOB.c.id).where(JOB.c.lease_until.is_not(None))
        there = select(WORKER.c.id).where(WORKER.c.seen_at > now(session) - LEASE_SECONDS)
        elected = select(LEASE.c.holder).where(LEASE.c.until > now(session))
        assert [session.execute(one).all() for one in (held, there, elected)] == [[], [], []]


@pytest.mark.parametrize("fault", [kill_pool_child, kill_worker])
def test_what_a_dead_process_held_is_claimed_again_within_a_lease_and_two_ticks(
    fault: Fault, start: Start, tree: Path
) -> None:
    with start(**ONE_EACH, JARVIS_LEASE_SECONDS=str(LONG_LEASE), JARVIS_TICK_SECONDS=str(LONG_TICK)) as fleet:
        fleet.waiting = fleet.command("sec", "fast", "-p", str(tree), "-q", "-o", "report.json")
        until(lambda: last_run(fleet) and all(worker.slots() for worker in fleet.workers))
        until(lambda: scan_of(fleet.store).done)
        fault(fleet, random.Random(0))
        (hit,) = fleet.hits
        until(lambda: claimed_after(fleet, hit))

        took = claimed_after(fleet, hit)
        print(f"{fault.__name__}: claimed again after {took:.2f} s")
        assert took <= LONG_LEASE + 2 * LONG_TICK * crowd()


def claimed_after(fleet: Fleet, hit: Hit) -> float:
    """Seconds from a hit to the next claim of its job; 0 before that."""
    row = next(row for row in job_rows(fleet.store, last_run(fleet)) if row.id == hit.job)
    return float(row.started_at - hit.at) if row.fence > hit.fence else 0.0


def test_an_idle_process_releases_a_job_whose_end_the_database_has_lost(start: Start, tmp_path: Path) -> None:
    """Nobody sends it a message: the run has ended."""
    make_tree(tmp_path / "tree", FEW_FILES)
    with start(**ONE_EACH) as fleet:
        fleet.waiting = fleet.command("sec", "fast", "-p", str(tmp_path / "tree"), "-q", "-o", "report.json")
        until(lambda: last_run(fleet))
        slot = fleet.catch("loses a commit")[-1]
        (hit,) = fleet.hits
        process = next(row.process for row in all_jobs(fleet) if row.id == hit.job)
        slot.send_signal(signal.SIGCONT)
        fleet.wait(0)

        lose_commit(fleet.store, hit.job, process)
        lost_at = time.monotonic()
        until(lambda: next(row.state for row in all_jobs(fleet) if row.id == hit.job) == "pending")
        assert time.monotonic() - lost_at <= 2 * LEASE_SECONDS * crowd()
        assert_nothing_is_left(fleet)


def all_jobs(fleet: Fleet) -> list[Any]:
    with fleet.store.read() as session:
        return list(session.execute(select(JOB.c.id, JOB.c.state, JOB.c.process)))


def test_two_workers_report_what_a_local_run_does(start: Start, tmp_path: Path) -> None:
    local, tree = tmp_path / "local", tmp_path / "tree"
    local.mkdir()
    make_tree(tree, FEW_FILES)
    write(tree, CALLERS)
    with start(JARVIS_SCAN__BATCH_FILES="3") as fleet:
        with command(local, "sec", "fast", "-p", str(tree)) as alone:
            code, said = alone.ends()
            assert code == 0, said
        for _ in range(2):
            fleet.waiting = fleet.command("sec", "fast", "-p", str(tree), "-q", "-o", "desk/report.json")
            fleet.wait(0)
        for form in sorted(FORMATS.keys() - {"text"}):  # text names files from where the command runs
            with command(local, "runs", "report", "last", "--format", form) as alone:
                assert alone.ends()[0] == 0
            fleet.waiting = fleet.command("runs", "report", "last", "--format", form, "-o", "desk/report")
            fleet.wait(0)
            assert body_of(fleet.home / "desk" / "report", form) == body_of(alone.report, form)
            assert "flow_double_free" in alone.report.read_text()
        assert scan_of(fleet.store).cached > 0
        with fleet.store.read() as session:
            assert len(set(session.execute(select(WORKER.c.pid)).scalars())) == 2
        assert_nothing_is_left(fleet)


def body_of(report: Path, form: str) -> str:
    """A report but for what it says of its run."""
    text = report.read_text()
    for part in OF_THE_RUN[form]:
        text, found = re.subn(part, "", text, flags=re.DOTALL)
        assert found, part
    return text


def test_what_kills_its_process_every_time_is_not_checked_and_all_else_is(start: Start, poisoned: Path) -> None:
    with start(**ONE_EACH) as fleet:
        fleet.waiting = fleet.command("sec", "fast", "-p", str(poisoned), "-q", "-o", "report.json")
        until(lambda: scan_of(fleet.store).jobs == POISONED_FILES if last_run(fleet) else None)
        poison = max(job_rows(fleet.store, last_run(fleet)), key=lambda row: row.weight)
        kills = until_it_is_given_up(fleet, poison.id)
        fleet.wait(3)

        rows = {row.id: row for row in job_rows(fleet.store, last_run(fleet))}
        given_up = rows.pop(poison.id)
        assert (given_up.state, given_up.crashes) == ("failed", kills)
        assert kills <= CRASHES_AT_ALL
        assert {row.state for row in rows.values()} == {"done"}
        missing = report(fleet, last_run(fleet))["summary"]["not_checked"]
        assert [entry["file"] for entry in missing] == [POISON]
        assert_nothing_is_left(fleet)


@pytest.mark.long
def test_a_file_that_kills_its_process_is_lost_alone_on_workers_too(start: Start, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    make_tree(tree, FEW_FILES)
    (tree / POISON).write_text("/* SEGFAULT */\n")
    with start(PYTHONPATH=poisoned_path(tmp_path)) as fleet:
        fleet.waiting = fleet.command("sec", "fast", "-p", str(tree), "-q", "-o", "report.json")
        fleet.wait(3)

        summary = report(fleet, last_run(fleet))["summary"]
        assert summary["not_checked"] == [{"file": POISON, "reason": "its process was killed by SIGSEGV"}]
        assert summary["scanned_files"] == FEW_FILES
        assert_nothing_is_left(fleet)


def test_workers_use_the_rules_that_the_submit_has_chosen(start: Start, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "a.c").write_text("void f(char *a)\n{\n    old_log(a);\n    gets(a);\n}\n")
    with start() as fleet:
        (fleet.home / "own.yaml").write_text(OWN_RULE)
        (fleet.home / "jarvis.yaml").write_text("rules: {paths: [own.yaml], severity: {own_log: high}}\n")
        fleet.waiting = fleet.command("sec", "fast", "-p", str(tree), "-q", "--only", "crypto", "-o", "report.json")
        fleet.wait(0)
        issues = json.loads((fleet.home / "report.json").read_text())["issues"]
        assert [(issue["pattern"], issue["line"], issue["severity"]) for issue in issues] == [("own_log", 3, "high")]
        assert_nothing_is_left(fleet)


def test_workers_that_lack_a_package_with_rules_say_so(start: Start, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    make_tree(tree, 1)
    with start() as fleet:
        path = f"{install(tmp_path / 'site')}:{fleet.environ.get('PYTHONPATH', '')}"
        fleet.environ = {**fleet.environ, "PYTHONPATH": path}
        fleet.waiting = fleet.command("sec", "fast", "-p", str(tree), "-q", "-o", "report.json")
        fleet.wait(3)
        (gap,) = report(fleet, last_run(fleet))["summary"]["not_checked"]
        assert (
            'the package with the rules "house" (jarvis_workers.rules) is not installed on this worker' in gap["reason"]
        )
        assert_nothing_is_left(fleet)


def until_it_is_given_up(fleet: Fleet, job: int) -> int:
    """Kill whoever does a job, until it has failed; return how often."""
    killed: set[str] = set()

    def given_up() -> bool:
        with fleet.store.read() as session:
            state, process = session.execute(select(JOB.c.state, JOB.c.process).where(JOB.c.id == job)).one()
        if state == "running" and process not in killed:
            psutil.Process(int(process.rpartition("/")[2])).kill()
            killed.add(process)
        return bool(state == "failed")

    until(given_up)
    return len(killed)


@pytest.mark.parametrize("times", [50, pytest.param(1000, marks=pytest.mark.long)])
def test_two_last_commits_at_once_plan_the_next_stage_once(
    times: int, postgres_url: str, open_stores: Callable[..., Store]
) -> None:
    sides = [open_stores(postgres_url) for _ in range(2)]
    both = Barrier(2)

    def finish(side: tuple[Store, Claimed]) -> None:
        store, job = side
        both.wait()
        commit(store, job)
        tick(store, job.run_id)

    with ThreadPoolExecutor(2) as threads:
        for _ in range(times):
            run = add_planned_run(sides[0], scans=2)
            last = claim(sides[0], run, limit=2)
            list(threads.map(finish, zip(sides, last, strict=True)))

            assert stage_states(sides[0], run) == ["closed", "open"]
            assert len(job_rows(sides[0], run, "report", plan=True)) == 1
            assert event_names(sides[0], run).count("closed") == 1
