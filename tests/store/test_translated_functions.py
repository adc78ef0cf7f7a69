"""Functions that a model translated: counted by proof, with the time that the others take."""

import pytest

from jarvis_workers.c2rust.conversion import Proof
from jarvis_workers.steps.c2rust.results import TranslationResult
from jarvis_workers.store import jobs, stages
from jarvis_workers.store.domain_results import decode_results, encode_results
from jarvis_workers.store.engine import Store
from jarvis_workers.store.stages import ConversationTimes, longest_chain
from jarvis_workers.store.values import Commit, Finished, NewJob
from tests.store.arrange import add_planned_run, claim

STAGE = QUEUE = "translate"


def translating(store: Store, functions: int) -> str:
    """Return a run with this number of functions to translate, in the stage that is open."""
    run = add_planned_run(store, 0)
    new = [NewJob(STAGE, QUEUE, f"f{n}", f"{n:064d}") for n in range(functions)]
    with store.write() as session:
        jobs.insert_jobs(session, run, "scan", new)
    return run


def translate(store: Store, run: str, *proofs: Proof) -> None:
    """Commit the outcomes of the next functions of a run."""
    claims = claim(store, run, queue=QUEUE, limit=len(proofs))
    done = [
        Finished(job, Commit(results=(TranslationResult(proof),))) for job, proof in zip(claims, proofs, strict=True)
    ]
    with store.write() as session:
        jobs.commit_many(session, done)


def test_functions_are_counted_by_proof_and_those_without_one_step_down(store: Store) -> None:
    run, other = translating(store, 6), translating(store, 1)
    translate(store, run, "compared", "none", "compared", "reached")
    translate(store, other, "built")
    claim(store, run, queue=QUEUE)

    with store.read() as session:
        scan, report = stages.progress(session, run)
    assert (scan.jobs, scan.done, scan.running) == (6, 4, 1)
    assert scan.accepted == {"compared": 2, "reached": 1}
    assert scan.stepped_down == 1
    assert scan.mean_seconds >= 0.0
    assert (report.proofs, report.accepted, report.stepped_down, report.seconds_left) == ({}, {}, 0, 0.0)


def test_a_stage_without_translated_functions_has_no_estimate(store: Store) -> None:
    run = translating(store, 2)
    claim(store, run, queue=QUEUE)
    with store.read() as session:
        scan, _ = stages.progress(session, run)
    assert (scan.mean_seconds, scan.seconds_left, scan.stepped_down) == (0.0, 0.0, 0)


@pytest.mark.parametrize(
    ("times", "seconds"),
    [
        (ConversationTimes(30, 10, 8.0, 20.0, 1.0), 32.0),
        (ConversationTimes(1, 10, 8.0, 20.0, 15.0), 20.0),
        (ConversationTimes(0, 10, 8.0, 20.0, 5.0), 15.0),
        (ConversationTimes(0, 10, 8.0, 20.0, 30.0), 8.0),
        (ConversationTimes(5, 0, 8.0, 20.0, None), 0.0),
        (ConversationTimes(5, 2, None, None, 3.0), 0.0),
    ],
    ids=["by work", "a waiting one", "the youngest one", "longer than all others", "paused", "none is done"],
)
def test_the_time_left_is_that_of_the_longest_chain(times: ConversationTimes, seconds: float) -> None:
    assert longest_chain(times) == seconds


def test_an_outcome_survives_its_encoding() -> None:
    (name, content), *_ = encode_results([TranslationResult("reached")])
    assert decode_results([(name, content)]) == (TranslationResult("reached"),)
