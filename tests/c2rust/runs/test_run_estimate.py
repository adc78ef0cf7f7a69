"""What an estimate makes of the requests that a dry run has counted."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import update

from jarvis_workers.agents.conversations.counting_runtime import RequestCounts
from jarvis_workers.c2rust.runs.run_estimate import ASSUMED, DryExecutor, RunEstimate, dry_request, estimate_run
from jarvis_workers.c2rust.stages.options import MoveOptions
from jarvis_workers.c2rust.stages.pipelines import DRY, RUN
from jarvis_workers.errors import UsageError
from jarvis_workers.models.platforms.groups import ModelGroup
from jarvis_workers.models.platforms.profiles import Prices
from jarvis_workers.models.platforms.protocol import ModelRequest
from jarvis_workers.models.ratelimit.budget import read_budget
from jarvis_workers.runs.named_runs import RunName
from jarvis_workers.runs.request import RunInput, RunRequest
from jarvis_workers.settings import Settings
from jarvis_workers.snapshots.selection import Selection
from jarvis_workers.store import runs, transcripts
from jarvis_workers.store.engine import Store
from jarvis_workers.store.tables import JOB
from jarvis_workers.store.transcripts import ModelCall
from jarvis_workers.store.values import Claimed, Run
from tests.store.arrange import NO_SNAPSHOT, talking

STAGES = ("replace", "layout", "signatures", "driver", "translate")
GROUP = ModelGroup(model="m", base_url="http://127.0.0.1:9/v1", prices=Prices(input=1.0, output=4.0))
SETTINGS = Settings().model_copy(update={"models": {"m": GROUP}})
SIZE = 1_000


@pytest.fixture
def store(sqlite_url: str, open_stores: Callable[..., Store]) -> Store:
    return open_stores(sqlite_url)


def request_of(stage: str, number: int) -> tuple[Claimed, ModelRequest]:
    job = Claimed(number, "dry", stage, stage, "agent", 1, "", "{}", 1, 0)
    return job, ModelRequest(messages=(), estimated=SIZE)


def estimated(
    store: Store,
    planned: dict[str, int],
    *,
    known: int = 0,
    state: str = "done",
    budget: str = "",
    skipped: tuple[str, ...] = ("improve",),
    **options: object,
) -> RunEstimate:
    """Return the estimate of a run with jobs by stage, of which the first are `known`."""
    counts = RequestCounts()
    for stage, jobs in planned.items():
        for number in range(jobs):
            counts.add(*request_of(stage, number), is_cached=number < known)
    chosen = MoveOptions(model_group="m", **options)  # type: ignore[arg-type]
    run = Run("dry", DRY[RUN], "/src", b"/src", NO_SNAPSHOT.id, "local:x", "0", chosen.encode(), state=state)
    with store.write() as session:
        runs.add(session, run, NO_SNAPSHOT, STAGES)
    dry = DryExecutor(None, store, counts)  # type: ignore[arg-type]
    given = RunRequest(
        run_id="dry",
        kind=RUN,
        path=Path(),
        selection=Selection(None),
        executor="local:x",
        run_input=RunInput(chosen),
        skipped_stages=skipped,
        budget=read_budget(budget) if budget else None,
    )
    return estimate_run(SETTINGS, store, dry, run, given)


def test_a_translation_takes_the_assumed_answers_and_its_review(store: Store) -> None:
    found = estimated(store, {"translate": 10})
    share = found.stages["translate"]

    assert (share.jobs, share.known, share.calls) == (10, 0, 36)
    assert share.prompt == 10 * (1.6 * SIZE + 700 + 2 * 0.75 * SIZE + 150)
    assert share.completion == 10 * (1.6 * 800 + 2 * 60)
    assert share.prompt_cost == pytest.approx(share.prompt / 1e6)
    assert (found.stages["layout"].jobs, found.drivers, found.ratio, found.priced) == (0, 0, 1.0, True)


def test_counts_of_a_server_correct_the_sizes_of_questions_and_reviews(store: Store) -> None:
    """The server has counted half of the estimated tokens, in another stage."""
    job = talking(store)
    with store.write() as session:
        transcripts.save(session, [ModelCall(job.run_id, job.id, "m", 50, 0, 1, 0, 0, 1, estimated=100)])
    share = estimated(store, {"translate": 10}).stages["translate"]

    assert share.prompt == 10 * (1.6 * SIZE / 2 + 700 + 2 * 0.75 * SIZE / 2 + 150)


def test_half_of_the_functions_that_only_a_driver_can_reach_are_translated(store: Store) -> None:
    found = estimated(store, {"driver": 4, "translate": 10}, review=False)

    assert (found.drivers, found.stages["driver"].calls) == (4, round(4 * 1.6))
    assert found.stages["translate"].jobs == 10 + 2
    assert found.stages["translate"].calls == round(12 * 1.6)
    # Three answers per driver, six per function, and no driver or all may be accepted.
    assert found.most_calls == 4 * 3 + 14 * 6


@pytest.mark.parametrize(
    ("options", "most"),
    [
        ({}, 6 + 4),
        ({"review": False}, 6),
        ({"max_retries": 2, "escalate": "large"}, 2 * 3 + 4),
    ],
)
def test_the_limit_of_calls_depends_on_retries_escalation_and_review(
    store: Store, options: dict[str, object], most: int
) -> None:
    planned = {"replace": 1, "layout": 1, "signatures": 1, "translate": 5}
    assert estimated(store, planned, **options).most_calls == 3 + 4 + 4 + 5 * most


def test_known_answers_are_free(store: Store) -> None:
    some = estimated(store, {"translate": 10}, known=4).stages["translate"]

    assert (some.jobs, some.known, some.calls) == (10, 4, round(6 * 3.6))


@pytest.mark.parametrize(
    ("budget", "fits", "says"),
    [
        ("1usd", True, "0.0955 of 1 dollar"),
        ("0.09usd", False, "0.0955 of 0.09 dollars"),
        ("100ktok", True, "53,500 of 100,000 tokens"),
        ("30min", None, "the time of a run is not estimated"),
    ],
)
def test_an_estimate_is_compared_with_the_budget(store: Store, budget: str, fits: bool | None, says: str) -> None:
    found = estimated(store, {"translate": 10}, budget=budget).budget

    assert found is not None
    assert (found.fits, found.says) == (fits, says)


@pytest.mark.slow
def test_the_history_of_a_stage_replaces_the_assumption(store: Store) -> None:
    """Twenty translations of three requests, of which the first is the largest."""
    for _ in range(20):
        job = talking(store)
        with store.write() as session:
            session.execute(update(JOB).where(JOB.c.id == job.id).values(stage="translate", state="done"))
            sizes = ((900, 300), (600, 30), (700, 30))
            calls = (ModelCall(job.run_id, job.id, "m", size, 0, answer, 0, 0, 1) for size, answer in sizes)
            transcripts.save(session, calls)
    share = estimated(store, {"translate": 1}).stages["translate"]

    assert (share.habit.seen, share.calls, share.completion) == (20, 3, 360)
    assert share.prompt == 3 * SIZE - (0 + 300 + 200)
    assert ASSUMED["translate"].seen == 0


def test_edits_of_the_optimized_crate_are_named_as_missing(store: Store) -> None:
    assert estimated(store, {}, skipped=()).improves


def test_optional_stages_are_left_out_of_a_dry_run_too() -> None:
    given = RunRequest("dry", RUN, Path(), Selection(None), "x", RunInput(MoveOptions()), name=RunName("n", ""))
    dry = dry_request(replace(given, skipped_stages=("replace", "prune", "optimize", "improve")))

    assert (dry.kind, dry.skipped_stages, dry.name) == (DRY[RUN], ("replace", "prune"), None)


def test_a_dry_run_that_failed_gives_no_estimate(store: Store) -> None:
    with pytest.raises(UsageError, match="nothing was estimated"):
        estimated(store, {}, state="failed")
