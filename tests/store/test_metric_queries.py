"""Queries for monitoring: they count what the store holds, on both databases."""

from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import insert, update

from jarvis_workers.sec.store import candidates, verdicts
from jarvis_workers.sec.trace import trail_of
from jarvis_workers.store import metric_queries, runs, workers
from jarvis_workers.store.budgets import REASON
from jarvis_workers.store.engine import Store
from jarvis_workers.store.metric_queries import ModelSum, QueueDepth, WorkerCount
from jarvis_workers.store.queues import QUEUES
from jarvis_workers.store.tables import JOB, MODEL_CALL
from jarvis_workers.store.values import WorkerFacts
from tests.store.arrange import SPOT, add_planned_run, claim, commit, run_to_its_end
from tests.store.clocks import FakeClock

MODEL_ROW = {"job_id": 1, "prompt": 100, "cached": 40, "completion": 10, "cost": 0.5, "seconds": 1.0}
BACKLOG = Path(__file__).parents[2] / "helm/jarvis/files/backlog.sql"


@pytest.fixture
def timed(store_url: str, open_stores: Callable[..., Store], clock: FakeClock) -> Store:
    return open_stores(store_url, clock=clock)


def depths(store: Store) -> dict[str, QueueDepth]:
    with store.read() as session:
        return {one.queue: one for one in metric_queries.queue_depths(session)}


def backlogs(store: Store) -> dict[str, int]:
    statement = BACKLOG.read_text()
    with store.engine.connect() as connection:
        return {
            queue: connection.exec_driver_sql(statement.replace("@QUEUES@", f"'{queue}'")).scalar_one()
            for queue in QUEUES
        }


def test_a_queue_has_waiting_and_running_jobs_of_active_cluster_runs(timed: Store, clock: FakeClock) -> None:
    add_planned_run(timed, 5)
    mine = add_planned_run(timed, 3, executor="cluster")
    claim(timed, mine)
    clock.advance(90.0)

    assert depths(timed) == {
        "scan": QueueDepth("scan", waiting=2, running=1, oldest_seconds=pytest.approx(90.0, abs=0.1)),
        "agent": QueueDepth("agent"),
        "build": QueueDepth("build"),
        "translate": QueueDepth("translate"),
        "control": QueueDepth("control"),
    }


def test_a_paused_run_has_no_backlog(store: Store) -> None:
    mine = add_planned_run(store, 3, executor="cluster")
    with store.write() as session:
        runs.pause(session, mine, REASON)

    assert depths(store)["scan"].backlog == 0
    with store.read() as session:
        (one,) = metric_queries.run_counts(session)
    assert (one.state, one.runs, one.budget) == ("paused", 1, 1)


def test_the_statement_for_autoscalers_counts_the_backlog(store: Store) -> None:
    mine = add_planned_run(store, 3, executor="cluster")
    commit(store, claim(store, mine)[0])
    claim(store, mine)

    assert backlogs(store) == {queue: depth.backlog for queue, depth in depths(store).items()}
    assert backlogs(store)["scan"] == 2


def test_a_retried_job_waits_from_its_back_off_on(timed: Store, clock: FakeClock) -> None:
    mine = add_planned_run(timed, 1, executor="cluster")
    with timed.write() as session:
        session.execute(update(JOB).where(JOB.c.run_id == mine).values(not_before=timed.clock() + 60))

    assert depths(timed)["scan"] == QueueDepth("scan", waiting=1, oldest_seconds=0.0)
    clock.advance(100.0)
    assert depths(timed)["scan"].oldest_seconds == pytest.approx(40.0, abs=0.1)


def test_a_job_of_a_retried_run_waits_from_the_retry_on(timed: Store, clock: FakeClock) -> None:
    mine = add_planned_run(timed, 1, executor="cluster")
    with timed.write() as session:
        session.execute(update(JOB).where(JOB.c.run_id == mine, JOB.c.state == "pending").values(state="failed"))
    run_to_its_end(timed, mine)
    clock.advance(1000.0)
    with timed.write() as session:
        runs.retry(session, mine, "cluster")
    clock.advance(5.0)

    assert depths(timed)["scan"].oldest_seconds == pytest.approx(5.0, abs=0.1)


def test_jobs_are_counted_by_kind_stage_and_state(store: Store) -> None:
    for _ in range(2):
        commit(store, claim(store, add_planned_run(store, 3))[0])

    with store.read() as session:
        counted = {tuple(one) for one in metric_queries.job_counts(session)}
    # Two done of each run: its plan job, and one batch.
    assert counted == {("sec.fast", "scan", "pending", 4), ("sec.fast", "scan", "done", 4)}


def test_expired_leases_and_crashed_jobs(timed: Store, clock: FakeClock) -> None:
    mine = add_planned_run(timed, 3)
    claim(timed, mine, lease=30.0)
    with timed.write() as session:
        session.execute(update(JOB).where(JOB.c.run_id == mine, JOB.c.state == "pending").values(crashes=1))
        assert metric_queries.expired_leases(session) == 0
        assert metric_queries.crashed_jobs(session) == 2
    clock.advance(31.0)
    with timed.read() as session:
        assert metric_queries.expired_leases(session) == 1


def test_models_are_summed_with_cache_hits_apart(store: Store) -> None:
    mine = add_planned_run(store, 1)
    with store.write() as session:
        for model, tries in (("large", 1), ("large", 3), ("large", 0), ("small", 1)):
            session.execute(insert(MODEL_CALL).values(run_id=mine, model=model, tries=tries, **MODEL_ROW))

    with store.read() as session:
        assert metric_queries.model_sums(session) == [
            ModelSum("large", False, 2, 200, 80, 20, 1.0),
            ModelSum("large", True, 1, 100, 40, 10, 0.5),
            ModelSum("small", False, 1, 100, 40, 10, 0.5),
        ]


def test_workers_count_by_queue_while_they_are_heard_of(timed: Store, clock: FakeClock) -> None:
    def seen(name: str, queues: str, slots: int) -> None:
        with timed.write() as session:
            workers.touch(session, WorkerFacts(name, "here", 1, "", queues, slots, "0"))

    seen("gone", "scan", 8)
    clock.advance(60.0)
    seen("a", "scan", 2)
    seen("b", "scan", 4)
    seen("c", "agent", 200)
    seen("command", "scan,control", 2)

    with timed.read() as session:
        assert metric_queries.worker_counts(session, 30.0) == [
            WorkerCount("scan", 2, 6),
            WorkerCount("agent", 1, 200),
            WorkerCount("build", 0, 0),
            WorkerCount("translate", 0, 0),
            WorkerCount("control", 0, 0),
            WorkerCount("local", 1, 2),
        ]


def test_findings_of_a_finished_run_are_counted_by_rule(store: Store) -> None:
    mine = add_planned_run(store, 1)
    commit(store, claim(store, mine)[0], SPOT, SPOT._replace(line=2), SPOT._replace(line=3, suppressed="harmless"))
    run_to_its_end(store, mine)
    with store.write() as session:
        candidates.number(session, mine)

    with store.read() as session:
        assert [run.id for run in metric_queries.ended_runs(session)] == [mine]
        (counted,) = verdicts.finding_counts(session, mine)
    assert counted == ("unsafe_api", 0.9, 120, counted.file, False, "", 2)


def test_data_from_outside_and_test_code_count_for_the_severity_of_findings(store: Store) -> None:
    mine = add_planned_run(store, 1)
    packet = trail_of([(None, 3, "n is a number read from the bytes of a buffer")], "a.c")
    near = SPOT._replace(pattern="flow_buffer_overflow", confidence=0.6, line=9)
    commit(store, claim(store, mine)[0], near, near._replace(line=10, trail=packet))
    run_to_its_end(store, mine)
    with store.write() as session:
        candidates.number(session, mine)

    with store.read() as session:
        counted = list(verdicts.finding_counts(session, mine))
    assert sorted((one.outside, one.severity_under({})) for one in counted) == [(False, "medium"), (True, "high")]
    assert {one.severity_under({"flow_buffer_overflow": "low"}) for one in counted} == {"low"}
    assert counted[0]._replace(file="tests/a.c", outside=True).severity_under({}) == "medium"
    assert counted[0]._replace(rated="low").severity_under({}) == "low"
