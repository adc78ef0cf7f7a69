"""What an attempt at a job raises decides what becomes of the job."""

from concurrent.futures import CancelledError

import pytest

from jarvis_workers.errors import (
    BudgetSpent,
    GivenUp,
    SnapshotDamaged,
    StepFailed,
    StoreFull,
    StoreOutdated,
    StoreUnavailable,
)
from jarvis_workers.pipeline.attempt import Done, Failed, Full, Lost, Released, attempt
from jarvis_workers.store.values import Commit


def raising(error: BaseException) -> Commit:
    raise error


def test_a_commit_is_done_and_a_lost_lease_is_not() -> None:
    assert attempt(lambda: Commit(files=3)) == Done(Commit(files=3))
    assert attempt(lambda: None) == Lost()


@pytest.mark.parametrize(
    "error",
    [StepFailed("no luck"), SnapshotDamaged("torn"), GivenUp("slow"), KeyError("x"), MemoryError(), ValueError()],
)
def test_an_error_of_the_jobs_own_work_fails_the_attempt(error: Exception) -> None:
    assert attempt(lambda: raising(error)) == Failed(f"{type(error).__name__}: {error}")


@pytest.mark.parametrize(
    "error", [StoreUnavailable("away"), StoreOutdated("old"), BudgetSpent("all"), CancelledError()]
)
def test_what_is_no_fault_of_the_job_releases_it(error: Exception) -> None:
    assert attempt(lambda: raising(error)) == Released(error)


def test_a_full_store_is_to_pause_the_run() -> None:
    assert attempt(lambda: raising(StoreFull("no space left"))) == Full("no space left")


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(2)])
def test_an_interruption_is_no_outcome(error: BaseException) -> None:
    with pytest.raises(type(error)):
        attempt(lambda: raising(error))
