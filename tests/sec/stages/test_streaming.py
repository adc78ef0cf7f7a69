"""A stage whose jobs are children of those of the stage before: they begin as they come, and none is forgotten."""

import pytest

from jarvis_workers.pipeline.controller import plan_job
from jarvis_workers.pipeline.stages import stages_of
from jarvis_workers.sec.assessment import Verdict
from jarvis_workers.sec.stages.results import ClusterResult, VerdictResult
from jarvis_workers.sec.store import candidates, clusters, verdicts
from jarvis_workers.sec.store.tables import CANDIDATE
from jarvis_workers.store import artifacts, jobs, runs, stages
from jarvis_workers.store.artifacts import transcript_name
from jarvis_workers.store.engine import Store
from jarvis_workers.store.tables import JOB
from jarvis_workers.store.values import Claimed, Commit, Finished, NewCluster, NewJob, Run, StageProgress
from tests.store.arrange import NO_SNAPSHOT, SPOT, batches, claim, commit, job_rows, run_now, states, tick

KIND = "sec.agent"
# What models have seen beside the candidates is planned after the streamed stage, and not of interest here.
STAGES = [stage.name for stage in stages_of(KIND) if not stage.options and stage.name != "verify_seen"]
_numbers = iter(range(1, 1_000))


def verdict(gid: int) -> Verdict:
    return Verdict(gid, "confirmed", True, "p", "t", "c", "s")


def child(gid: int) -> NewJob:
    return NewJob("verify", "agent", f"verify {gid}", f"{gid:064d}", weight=10, stage="verify")


def add_run(store: Store, files: int, spots: int = 2) -> str:
    """Insert a run of which so many files wait to be clustered."""
    name = f"s{next(_numbers):05d}"
    with store.write() as session:
        run = Run(name, KIND, "/", b"/", NO_SNAPSHOT.id, f"local:{name}", "0", {"min_confidence": 0.0})
        runs.add(session, run, NO_SNAPSHOT, STAGES)
        jobs.insert_jobs(session, name, "scan", [plan_job("scan")])
    plan(store, name, batches(1))
    (scan,) = claim(store, name)
    commit(store, scan, *[SPOT._replace(line=line) for line in range(spots, 0, -1)])
    tick(store, name)
    for _ in ("summarize", "flow"):
        plan(store, name, [])
        tick(store, name)
    plan(store, name, [NewJob("cluster", "agent", f"file {n}", f"{n:064d}", weight=n) for n in range(files)])
    return name


def plan(store: Store, run: str, new: list[NewJob]) -> None:
    (planner,) = claim(store, run, queue="control")
    with store.write() as session:
        jobs.plan_more(session, planner, new)
    commit(store, planner)
    with store.write() as session:
        runs.start(session, run)


def take(store: Store, run: str, step: str) -> Claimed:
    """Claim the next job of the agent queue, which has to be of this step."""
    (job,) = claim(store, run, queue="agent")
    assert job.step == step
    return job


def finish(store: Store, job: Claimed, done: Commit) -> bool:
    with store.write() as session:
        return bool(jobs.commit_many(session, [Finished(job, done)]))


def cluster(store: Store, run: str, *gids: int) -> None:
    """Do the next cluster job: each gid is a cluster."""
    made = tuple(NewCluster(b"a.c", 1, "fits", (gid,)) for gid in gids)
    finish(store, take(store, run, "cluster"), Commit(results=(ClusterResult(made),), children=tuple(map(child, gids))))
    tick(store, run)


def verify(store: Store, run: str) -> None:
    job = take(store, run, "verify")
    finish(store, job, Commit(results=(VerdictResult((verdict(int(job.label.split()[1])),)),)))
    tick(store, run)


def fail(store: Store, run: str) -> None:
    """Let the next job of the agent queue fail for good."""
    for _ in range(jobs.ATTEMPTS):
        (job,) = claim(store, run, queue="agent")
        with store.write() as session:
            jobs.fail_attempt(session, job, "no model")
            session.execute(JOB.update().values(not_before=0.0))
    tick(store, run)


def stage(store: Store, run: str, name: str) -> StageProgress:
    with store.read() as session:
        return next(found for found in stages.progress(session, run) if found.name == name)


def end(store: Store, run: str) -> str:
    """Write the report, and return the state of the run."""
    plan(store, run, [NewJob("report", "control", "report", "report")])
    commit(store, *claim(store, run, queue="control"))
    tick(store, run)
    return run_now(store, run).state


def gids(store: Store, run: str) -> tuple[list[tuple[int, ...]], list[int]]:
    """Return the gids of all clusters and verdicts."""
    with store.read() as session:
        return [one.gids for one in clusters.read(session, run)], [one.gid for one in verdicts.read(session, run)]


def test_candidates_have_their_gids_before_they_are_clustered(store: Store) -> None:
    run = add_run(store, 1)
    with store.read() as session:
        rows = session.execute(CANDIDATE.select().where(CANDIDATE.c.run_id == run).order_by(CANDIDATE.c.line)).all()
        some = candidates.of_gids(session, run, [2, 7])

    assert [row.gid for row in rows] == [1, 2]
    assert [(gid, found.line) for gid, found in some] == [(2, 2)]


def test_a_child_belongs_to_the_next_stage_and_begins_at_once(store: Store) -> None:
    run = add_run(store, 2)
    cluster(store, run, 1)

    assert [row.stage for row in job_rows(store, run, "verify")] == ["verify"]
    assert states(store, run, "cluster") == ["pending", "done"]
    verify(store, run)
    assert states(store, run, "verify") == ["done"]
    assert (stage(store, run, "cluster").state, stage(store, run, "verify").state) == ("open", "open")
    assert stage(store, run, "verify").opened_at is not None


@pytest.mark.timing
def test_a_streamed_stage_closes_behind_the_last_of_both(store: Store) -> None:
    run = add_run(store, 1)
    cluster(store, run, 1, 2)
    assert (stage(store, run, "cluster").state, stage(store, run, "verify").state) == ("closed", "open")
    verify(store, run)
    assert job_rows(store, run, "report", plan=True) == []
    verify(store, run)

    assert stage(store, run, "verify").state == "closed"
    assert len(job_rows(store, run, "report", plan=True)) == 1
    assert job_rows(store, run, "verify", plan=True) == []
    assert end(store, run) == "done"


@pytest.mark.timing
def test_where_all_was_verified_before_the_last_cluster_came_the_report_is_planned_at_once(store: Store) -> None:
    run = add_run(store, 2)
    cluster(store, run, 1)
    verify(store, run)
    cluster(store, run)

    assert [stage(store, run, name).state for name in ("cluster", "verify", "report")] == ["closed", "closed", "open"]
    assert len(job_rows(store, run, "report", plan=True)) == 1


def test_nothing_of_a_job_that_was_lost_is_kept(store: Store) -> None:
    run = add_run(store, 1)
    lost = take(store, run, "cluster")
    with store.write() as session:
        jobs.release(session, [lost])
    late = Commit(results=(ClusterResult((NewCluster(b"a.c", 1, "late", (1, 2)),)),), children=(child(7),))
    assert not finish(store, lost, late)
    cluster(store, run, 1, 2)

    assert gids(store, run) == ([(1,), (2,)], [])
    assert [row.label for row in job_rows(store, run, "verify")] == ["verify 1", "verify 2"]


def test_clusters_that_come_again_do_not_double_what_verifies_them(store: Store) -> None:
    run = add_run(store, 1)
    job = take(store, run, "cluster")
    done = Commit(results=(ClusterResult((NewCluster(b"a.c", 1, "fits", (1,)),)),), children=(child(1),))

    assert [finish(store, job, done), finish(store, job, done)] == [True, False]
    assert gids(store, run) == ([(1,)], [])
    assert len(job_rows(store, run, "verify")) == 1


def test_a_run_with_a_cluster_that_failed_goes_on_and_is_incomplete(store: Store) -> None:
    run = add_run(store, 2)
    fail(store, run)
    cluster(store, run, 1)
    verify(store, run)

    assert end(store, run) == "incomplete"
    assert run_now(store, run).reason == "1 job failed"


def test_a_run_says_how_many_candidates_are_undecided_and_of_nothing_that_is_not(store: Store) -> None:
    run = add_run(store, 1)
    cluster(store, run, 1)
    job = take(store, run, "verify")
    finish(store, job, Commit(not_checked=((b"a.c", "candidate 1 on line 1 is undecided: inconclusive"),)))
    tick(store, run)

    assert end(store, run) == "incomplete"
    assert run_now(store, run).reason == "1 candidate is undecided"


def retry(store: Store, run: str) -> int:
    with store.write() as session:
        return runs.retry(session, run, f"local:{run}")


def test_retrying_a_file_that_failed_keeps_what_others_have_come_to(store: Store) -> None:
    run = add_run(store, 2)
    fail(store, run)
    cluster(store, run, 1)
    verify(store, run)
    end(store, run)
    assert retry(store, run) == 1
    assert gids(store, run) == ([(1,)], [1])
    assert states(store, run, "verify") == ["done"]
    cluster(store, run, 2)
    verify(store, run)

    assert gids(store, run) == ([(1,), (2,)], [1, 2])
    assert end(store, run) == "done"


def test_retrying_what_was_not_verified_clusters_nothing_again(store: Store) -> None:
    run = add_run(store, 1)
    cluster(store, run, 1, 2)
    fail(store, run)
    verify(store, run)
    end(store, run)
    assert retry(store, run) == 1
    verify(store, run)

    assert gids(store, run) == ([(1,), (2,)], [1, 2])
    assert end(store, run) == "done"


def test_what_was_said_is_kept_when_something_is_tried_again(store: Store) -> None:
    run = add_run(store, 2)
    fail(store, run)
    job = take(store, run, "cluster")
    kept = ((transcript_name(job.id), "a" * 64, 1), ("report", "b" * 64, 1))
    with store.write() as session:
        jobs.commit_many(session, [Finished(job, Commit(), artifacts=kept)])
    tick(store, run)
    end(store, run)
    retry(store, run)
    with store.read() as session:
        found = [artifacts.find(session, run, name) for name, _, _ in kept]

    assert found == ["a" * 64, None]


def test_what_is_clustered_is_forgotten_when_something_is_found_again(store: Store) -> None:
    run = add_run(store, 1)
    cluster(store, run, 1, 2)
    verify(store, run)
    with store.write() as session:
        stages.reopen(session, run, ["flow"])

    assert gids(store, run) == ([], [])
    assert job_rows(store, run, "verify") == []
