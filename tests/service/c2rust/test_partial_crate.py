"""The run that makes the crate of a paused run: what it does, and whose results it reads."""

from dataclasses import replace

import pytest

from jarvis_workers.pipeline.stages import stages_of
from jarvis_workers.service.c2rust.partial_crate import has_partial_crate, submit_partial_crate
from jarvis_workers.steps.c2rust import merge_bodies, write_conversion
from jarvis_workers.steps.c2rust.fast_options import FastOptions
from jarvis_workers.steps.c2rust.translate_options import TranslateOptions
from jarvis_workers.steps.c2rust.translated_bodies import UNFINISHED, TranslatePayload
from jarvis_workers.store import jobs, runs, stages
from jarvis_workers.store.engine import Store
from jarvis_workers.store.runs import Run
from jarvis_workers.store.values import Commit, Finished, NewJob
from tests.store.arrange import NO_SNAPSHOT, claim, run_now

PAUSED = Run(
    id="paused",
    kind="c2rust.transpile",
    root="/src",
    root_raw=b"/src",
    snapshot_id=NO_SNAPSHOT.id,
    executor="local:old",
    version="0",
    options=TranslateOptions(translate=True, proof="compared", libraries="blob").encode(),
)


def pause(store: Store, *closed: str) -> Run:
    """Return a paused run: these stages are closed, and one of two functions is translated."""
    payload = TranslatePayload("f", "skeleton").to_json()
    new = [NewJob("translate", "translate", name, name * 64, payload) for name in "fg"]
    with store.write() as session:
        runs.add(session, PAUSED, NO_SNAPSHOT, [stage.name for stage in stages_of(PAUSED.kind)])
        jobs.insert_jobs(session, PAUSED.id, "translate", new)
        runs.start(session, PAUSED.id)
        for name in closed:
            stages.close(session, PAUSED.id, name)
    (job,) = claim(store, PAUSED.id, queue="translate")
    with store.write() as session:
        jobs.commit_many(session, [Finished(job, Commit(), '{"translated": "body"}')])
        runs.pause(session, PAUSED.id, "budget")
    return run_now(store, PAUSED.id)


def test_what_is_accepted_so_far_is_merged(store: Store) -> None:
    paused = pause(store, "skeleton", "check")
    run = run_now(store, submit_partial_crate(store, paused, "local:new"))

    assert (run.kind, run.state, run.executor, run.reason) == ("c2rust.partial", "planning", "local:new", None)
    assert [one.step for one in claim(store, run.id, queue="control")] == ["plan"]
    with store.read() as session:
        work = merge_bodies.load(session, run)
        report = write_conversion.load(session, run)
    assert (work.options.proof, work.options.translate) == ("compared", True)
    assert list(work.translations.first) == ['{"translated": "body"}']
    assert work.translations.failed == {"f": UNFINISHED}
    assert report.translations == work.translations
    assert run_now(store, paused.id) == paused


def test_before_its_gates_have_run_a_project_is_translated_mechanically(store: Store) -> None:
    paused = pause(store, "symbols", "graph", "skeleton")
    run = run_now(store, submit_partial_crate(store, paused, "cluster"))

    options = FastOptions.of(run)
    assert run.kind == "c2rust.fast"
    assert (options.translate, options.libraries, options.paused_run, options.proof) == (False, "", "", "compared")


@pytest.mark.parametrize(
    ("kind", "state", "has_one"),
    [
        ("c2rust.transpile", "paused", True),
        ("c2rust.run", "paused", True),
        ("c2rust.run", "running", False),
        ("c2rust.prepare", "paused", False),
        ("c2rust.interface", "paused", False),
    ],
)
def test_only_paused_runs_that_translate_have_a_partial_crate(kind: str, state: str, has_one: bool) -> None:
    assert has_partial_crate(replace(PAUSED, kind=kind, state=state)) == has_one
