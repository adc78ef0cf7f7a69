"""Runs and jobs under every operation in any order: the store does what the model says, and obeys the design."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test
from sqlalchemy import event

from jarvis_workers.store.engine import Store, open_store
from tests.store.clocks import FakeClock
from tests.store.rules import JobsAndRuns

# Twice 1,000, and half as many on PostgreSQL, take a quarter of an hour; by hand: LONG_EXAMPLES=1000.
LONG_EXAMPLES = int(os.environ.get("LONG_EXAMPLES", "50"))


@pytest.fixture
def quick_sqlite(clock: FakeClock) -> Iterator[Store]:
    """A store in memory if the machine has a place for it, that never waits for a disk."""
    memory = Path("/dev/shm")
    with TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        store = open_store(f"sqlite:///{folder}/jarvis.db", clock=clock)
        store.engine.dispose()
        event.listen(store.engine, "connect", lambda made, _: made.execute("PRAGMA synchronous=OFF").close())
        yield store
        store.close()


def run_machine(
    store: Store, clock: FakeClock, examples: int, steps: int = 50, shrink: bool = True, dice: int = 1
) -> None:
    checks = settings(
        max_examples=examples,
        stateful_step_count=steps,
        deadline=None,
        derandomize=True,
        database=None,
        report_multiple_bugs=False,
        phases=(Phase.generate, Phase.shrink) if shrink else (Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    run_state_machine_as_test(seed(dice)(lambda: JobsAndRuns(store, clock)), settings=checks)  # type: ignore[arg-type]


@pytest.mark.slow
def test_jobs_and_runs_obey_the_design_on_sqlite(quick_sqlite: Store, clock: FakeClock) -> None:
    run_machine(quick_sqlite, clock, examples=6, steps=30, shrink=False)


@pytest.mark.slow
def test_jobs_and_runs_obey_the_design_on_postgresql(
    postgres_url: str, open_stores: Callable[..., Store], clock: FakeClock
) -> None:
    run_machine(open_stores(postgres_url, clock=clock), clock, examples=10, steps=20, shrink=False)


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("dice", [1, pytest.param(2, marks=pytest.mark.long)])
def test_jobs_and_runs_obey_the_design_for_long_on_sqlite(quick_sqlite: Store, clock: FakeClock, dice: int) -> None:
    run_machine(quick_sqlite, clock, examples=LONG_EXAMPLES, dice=dice)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_jobs_and_runs_obey_the_design_for_long_on_postgresql(
    postgres_url: str, open_stores: Callable[..., Store], clock: FakeClock
) -> None:
    run_machine(open_stores(postgres_url, clock=clock), clock, examples=LONG_EXAMPLES // 2)
