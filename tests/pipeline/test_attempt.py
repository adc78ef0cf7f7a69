"""What an attempt at a job raises decides what becomes of the job."""

import errno
from concurrent.futures import CancelledError

import pytest

from jarvis_workers.errors import (
    BlobsUnavailable,
    BudgetSpent,
    GivenUp,
    HostExhausted,
    ModelUnavailable,
    SnapshotDamaged,
    StepFailed,
    StoreFull,
    StoreOutdated,
    StoreRejected,
    StoreUnavailable,
)
from jarvis_workers.pipeline.attempt import Done, Failed, Full, Lost, Released, attempt, attempt_without_store
from jarvis_workers.store.values import Commit


def raising(error: BaseException) -> Commit:
    raise error


def test_a_commit_is_done_and_a_lost_lease_is_not() -> None:
    assert attempt(lambda: Commit(files=3)) == Done(Commit(files=3))
    assert attempt(lambda: None) == Lost()


@pytest.mark.parametrize(
    "error",
    [StepFailed("no luck"), SnapshotDamaged("torn"), GivenUp("slow"), KeyError("x"), ValueError(), StoreRejected("no")],
)
def test_an_error_of_the_jobs_own_work_fails_the_attempt(error: Exception) -> None:
    assert attempt(lambda: raising(error)) == Failed(f"{type(error).__name__}: {error}")


@pytest.mark.parametrize(
    "error",
    [
        *(StoreUnavailable("away"), StoreOutdated("old"), BudgetSpent("all"), CancelledError()),
        *(BlobsUnavailable("away"), HostExhausted("no memory")),
    ],
)
def test_what_is_no_fault_of_the_job_releases_it(error: Exception) -> None:
    assert attempt(lambda: raising(error)) == Released(error)


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        OSError(errno.EMFILE, "Too many open files"),
        RuntimeError("can't start new thread"),
        ImportError("/x/_binding.abi3.so: failed to map segment from shared object"),
        ImportError("/x/_binding.abi3.so: cannot open shared object file: Too many open files"),
        SystemError("error return without exception set"),
    ],
)
def test_a_lack_of_this_machine_releases_the_job(error: Exception) -> None:
    def fail() -> Commit:
        raise StepFailed("cannot work") from error

    for execute in (lambda: raising(error), fail):
        outcome = attempt(execute)
        assert isinstance(outcome, Released) and isinstance(outcome.error, HostExhausted)


def test_a_missing_module_is_a_fault_of_the_job() -> None:
    assert isinstance(attempt(lambda: raising(ImportError("No module named 'x'"))), Failed)


def test_a_model_server_that_cannot_be_reached_is_no_lack_of_this_machine() -> None:
    def fail() -> Commit:
        raise ModelUnavailable("no answer") from TimeoutError(errno.ETIMEDOUT, "timed out")

    assert isinstance(attempt(fail), Failed)


def test_only_outages_release_a_job_that_opens_no_store() -> None:
    away = BlobsUnavailable("away")
    assert attempt_without_store(lambda: raising(away)) == Released(away)
    assert isinstance(attempt_without_store(lambda: raising(StoreUnavailable("away"))), Failed)


def test_a_full_store_is_to_pause_the_run() -> None:
    assert attempt(lambda: raising(StoreFull("no space left"))) == Full("no space left")


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(2)])
def test_an_interruption_is_no_outcome(error: BaseException) -> None:
    with pytest.raises(type(error)):
        attempt(lambda: raising(error))
