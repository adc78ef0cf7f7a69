"""A run with half of what it would take stops just below, reports what it has, and then goes on to the same end."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from jarvis_workers.agents.conversations.resources import setup_of
from jarvis_workers.agents.conversations.runtime import AgentRuntime
from jarvis_workers.errors import BudgetSpent
from jarvis_workers.models.platforms.groups import ModelGroup
from jarvis_workers.models.ratelimit.budget import RunBudget
from jarvis_workers.sec.runs.estimate import estimate
from jarvis_workers.sec.stages.dry_run import Plan
from jarvis_workers.sec.stages.judge_options import JudgeOptions
from jarvis_workers.sec.store import verdicts
from jarvis_workers.snapshots.resources import open_blobs
from jarvis_workers.store import budgets, jobs, runs
from jarvis_workers.store.engine import Store
from tests.agents.loop.server import ModelServer
from tests.chaos.conversations import asked_again
from tests.sec.runs.test_estimate import FREES, LOCKS, LOOPS, answers
from tests.sec.stages.pipeline import Pipeline

FILES = [LOCKS, FREES, LOOPS]
# In a tree as small as this a single question may take more than a twentieth of the budget.
LARGEST_QUESTION = 6_000


@pytest.mark.slow
@pytest.mark.timing
def test_half_of_the_estimate_pauses_the_run_and_its_end_is_the_same(
    tmp_path: Path, sqlite_url: str, open_stores: Callable[..., Store]
) -> None:
    (tmp_path / "src").mkdir()
    for file in FILES:
        shutil.copy(file, tmp_path / "src")
    blobs = open_blobs(str(tmp_path / "blobs"), tmp_path / "cache")
    with ModelServer(forever=answers) as server:
        facts = {"model": "m", "base_url": server.url, "profile": "deepseek", "overrides": {"answer_tokens": 300}}
        shared = AgentRuntime(
            open_stores(sqlite_url, durable=True), setup_of({"m": facts | {"api_key": "k"}}, tmp_path)
        )
        pipeline = Pipeline(open_stores(sqlite_url), blobs, shared)
        with pipeline.loop:
            cap = half(pipeline, ModelGroup.model_validate(facts), tmp_path)
            run = pipeline.start(
                tmp_path / "src",
                kind="sec.agent",
                model_group="m",
                budget=RunBudget("tok", cap),
            )
            spend(pipeline, run)
            partly, spent = found(pipeline, run), taken(pipeline, run)
            assert (pipeline.run(run).state, pipeline.run(run).reason) == ("paused", "budget")
            raise_budget(pipeline, run, 100 * cap)
            pipeline.go_on(run)
            asked = len(server.requests)
            again = pipeline.do(tmp_path / "src", kind="sec.agent", model_group="m")
        shared.close()

    assert cap - LARGEST_QUESTION <= spent <= cap
    assert 0 < len(partly) < len(found(pipeline, run))
    assert (pipeline.run(run).state, asked_again(server), len(server.requests)) == ("done", 0, asked)
    assert found(pipeline, run) == found(pipeline, again)
    assert pipeline.body(run) == pipeline.body(again)


def half(pipeline: Pipeline, group: ModelGroup, place: Path) -> int:
    """Return half of the tokens that the run is estimated to take."""
    scanned = pipeline.run(pipeline.do(place / "src"))
    said = estimate(
        pipeline.store, pipeline.blobs, scanned, Plan(JudgeOptions(model_group="m"), group), unpacked=place / "sources"
    )
    return (said.cluster.prompt + said.verify.prompt + said.cluster.completion + said.verify.completion) // 2


def spend(pipeline: Pipeline, run: str) -> None:
    """Go on until the budget is spent; the job that found nothing goes back, as a worker's does."""
    try:
        pipeline.go_on(run)
    except BudgetSpent:
        with pipeline.store.write() as session:
            jobs.release_worker(session, "w")


def raise_budget(pipeline: Pipeline, run: str, cap: int) -> None:
    with pipeline.store.write() as session:
        budgets.put(session, run, RunBudget("tok", cap))
        runs.take_up(session, run, "cluster")


def taken(pipeline: Pipeline, run: str) -> int:
    with pipeline.store.read() as session:
        return budgets.spent(session, run, "tok")


def found(pipeline: Pipeline, run: str) -> list[tuple[int, str]]:
    with pipeline.store.read() as session:
        return [(verdict.gid, verdict.status) for verdict in verdicts.read(session, run)]
