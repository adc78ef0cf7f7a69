"""Clusters and verdicts: they come back as they went, in the order of their gids."""

import pytest

from jarvis_workers.sec.assessment import EvidenceQuote, ReproScript, Verdict
from jarvis_workers.sec.stages.results import ClusterResult, VerdictResult
from jarvis_workers.sec.store import clusters, verdicts
from jarvis_workers.store import jobs, runs
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Claimed, Commit, DomainResult, Finished, NewCluster
from tests.store.arrange import add_planned_run, claim, run_to_its_end

FIRST = NewCluster(b"a/\xff.c", 2, "the sizes fit", (3, 11))
SECOND = NewCluster(b"b.c", 1, "it is checked", (4,))
SURE = Verdict(
    4,
    "confirmed",
    True,
    "always",
    "main -> f",
    "a crash",
    "check it",
    (EvidenceQuote("a.c", 1, "gets(d);"),),
    None,
    (ReproScript("bash", "ls"),),
)
UNSURE = Verdict(11, "undecided", reason="no answer came")

MOST = 70_000


def save(store: Store, job: Claimed, *results: DomainResult) -> bool:
    with store.write() as session:
        return bool(jobs.commit_many(session, [Finished(job, Commit(results=results))]))


def test_clusters_come_back_by_their_first_gid(store: Store) -> None:
    run = add_planned_run(store, 2)
    one, two = claim(store, run, limit=2)
    save(store, one, ClusterResult((SECOND,)))
    save(store, two, ClusterResult((FIRST,)))
    with store.read() as session:
        assert clusters.read(session, run) == [FIRST, SECOND]
        assert clusters.read(session, "nowhere") == []


def test_verdicts_come_back_by_gid(store: Store) -> None:
    run = add_planned_run(store, 2)
    one, two = claim(store, run, limit=2)
    save(store, one, VerdictResult((UNSURE,)))
    save(store, two, VerdictResult((SURE,)))
    with store.read() as session:
        assert list(verdicts.read(session, run)) == [SURE, UNSURE]


@pytest.mark.sample(1)
def test_some_are_found_by_more_gids_than_a_statement_takes(store: Store) -> None:
    run = add_planned_run(store, 1)
    save(store, claim(store, run)[0], VerdictResult((UNSURE, SURE, SURE._replace(gid=MOST))))
    with store.read() as session:
        assert verdicts.of_gids(session, run, range(MOST + 1)) == [SURE, UNSURE, SURE._replace(gid=MOST)]
        assert verdicts.of_gids(session, run, []) == []


def test_what_no_database_holds_is_written_out(store: Store) -> None:
    run = add_planned_run(store, 1)
    (job,) = claim(store, run)
    odd = "a\0b\ud800"
    save(
        store,
        job,
        ClusterResult((FIRST._replace(verification=odd),)),
        VerdictResult((SURE._replace(consequences=odd),)),
    )
    with store.read() as session:
        assert clusters.read(session, run)[0].verification == "a\\x00b\\ud800"
        assert next(verdicts.read(session, run)).consequences == "a\\x00b\\ud800"


def test_a_commit_that_comes_too_late_brings_neither(store: Store) -> None:
    run = add_planned_run(store, 1)
    (job,) = claim(store, run)
    with store.write() as session:
        jobs.release(session, [job])
    assert not save(store, job, ClusterResult((FIRST,)), VerdictResult((SURE,)))
    with store.read() as session:
        assert clusters.read(session, run) == list(verdicts.read(session, run)) == []


def test_they_go_with_their_run(store: Store) -> None:
    run = add_planned_run(store, 1)
    save(store, claim(store, run)[0], ClusterResult((FIRST,)), VerdictResult((SURE,)))
    run_to_its_end(store, run)
    with store.write() as session:
        assert runs.remove(session, run)
    with store.read() as session:
        assert clusters.read(session, run) == list(verdicts.read(session, run)) == []
