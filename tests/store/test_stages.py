"""Stages: in order, closed once, and counted."""

from jarvis_workers.store import jobs, stages
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Commit, Finished
from tests.store.arrange import add_planned_run, add_run, claim, stage_states


def test_the_first_open_stage_is_the_current_one(store: Store) -> None:
    run = add_run(store)
    with store.write() as session:
        assert stages.current(session, run) == "scan"
        stages.close(session, run, "scan")
        assert stages.current(session, run) == "report"
        stages.close(session, run, "report")
        assert stages.current(session, run) is None


def test_a_stage_is_closed_once(store: Store) -> None:
    run = add_run(store)
    with store.write() as session:
        assert stages.close(session, run, "scan")
        assert not stages.close(session, run, "scan")

    assert stage_states(store, run) == ["closed", "open"]


def test_stages_follow_each_other(store: Store) -> None:
    run = add_run(store)
    with store.read() as session:
        assert stages.following(session, run, "scan") == "report"
        assert stages.following(session, run, "report") is None


def test_a_reopened_stage_opens_those_after_it(store: Store) -> None:
    run = add_run(store)
    with store.write() as session:
        stages.close(session, run, "scan")
        stages.close(session, run, "report")
        stages.reopen(session, run, ["report"])
    assert stage_states(store, run) == ["closed", "open"]
    with store.write() as session:
        stages.reopen(session, run, ["scan", "report"])
    assert stage_states(store, run) == ["open", "open"]


def test_open_jobs_are_those_that_wait_or_run(store: Store) -> None:
    run = add_planned_run(store, 3)
    running, done = claim(store, run, limit=2)
    with store.write() as session:
        jobs.commit_many(session, [Finished(done, Commit())])
        assert stages.open_jobs(session, run) == stages.open_jobs(session, run, "scan") == 2
        assert stages.open_jobs(session, run, "report") == 0
        assert stages.failed_plan(session, run, "scan") is None
    assert running.stage == "scan"


def test_progress_counts_jobs_bytes_and_files_but_no_plan(store: Store) -> None:
    run = add_planned_run(store, 3)
    heaviest, _ = claim(store, run, limit=2)
    result = Commit(files=2, size=30, cpu_seconds=0.5, not_checked=((b"a.c", "damaged"),))
    with store.write() as session:
        jobs.commit_many(session, [Finished(heaviest, result)])
        scan, report = stages.progress(session, run)

    assert (scan.jobs, scan.done, scan.running, scan.failed) == (3, 1, 1, 0)
    assert (scan.files, scan.bytes, scan.not_checked, scan.cpu_seconds) == (2, 30, 1, 0.5)
    assert (scan.weight, scan.weight_done, scan.crashes) == (6, 3, 0)
    assert scan.opened_at is not None
    assert (report.name, report.state, report.jobs, report.opened_at) == ("report", "open", 0, None)
