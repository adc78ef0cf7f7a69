"""One attempt at a job: execute the job and classify the exceptions that it raises.

The exception boundary of jobs is the same in every executor: a child, a thread, an event loop or a pool process calls
`attempt`, and the process that may write to the store applies the outcome to the job's row.

Done       the result is committed if the lease is still valid
Lost       the lease was lost meanwhile: nothing is saved
Failed     the step raised: a failed attempt, retried later, then reported as not checked
Released   cancelled, out of budget, or an outage (`outage.py`): pending again, and no attempt is counted
Full       no space for the result: released, and the run is paused
Died       the process ended: a crash, detected by the executor
"""

from collections.abc import Callable
from concurrent.futures import CancelledError
from dataclasses import dataclass

from jarvis_workers.errors import BlobsUnavailable, BudgetSpent, HostExhausted, StoreError, StoreFull, StoreRejected
from jarvis_workers.store.values import Commit
from jarvis_workers.toolchain.exhaustion import host_exhausted


@dataclass(frozen=True, slots=True)
class Done:
    commit: Commit


@dataclass(frozen=True, slots=True)
class Lost:
    pass


@dataclass(frozen=True, slots=True)
class Failed:
    reason: str


@dataclass(frozen=True, slots=True)
class Released:
    error: Exception


@dataclass(frozen=True, slots=True)
class Full:
    reason: str


@dataclass(frozen=True, slots=True)
class Died:
    how: str


# No fault of a job: it is released for some time (`outage.Outage`).
OUTAGES = (BlobsUnavailable, HostExhausted)
AttemptOutcome = Done | Lost | Failed | Released | Full | Died


def attempt(execute: Callable[[], Commit | None]) -> AttemptOutcome:
    """Execute a job and return the outcome; `execute` returns None if the lease was lost.

    Raises only BaseExceptions that are not Exceptions, such as KeyboardInterrupt.
    """
    try:
        commit = execute()
    except StoreFull as full:
        return Full(str(full))
    except StoreRejected as error:
        return Failed(reason_of(error))
    except (StoreError, BudgetSpent, CancelledError) as error:
        return Released(error)
    except Exception as error:  # noqa: BLE001  (the boundary of a job)
        exhausted = host_exhausted(error)
        return Released(exhausted) if exhausted else Failed(reason_of(error))
    return Lost() if commit is None else Done(commit)


def attempt_without_store(execute: Callable[[], Commit]) -> AttemptOutcome:
    """Attempt a job that opens no store: only an outage of blobs or machine releases it, others are failed attempts."""
    outcome = attempt(execute)
    if isinstance(outcome, Released) and not isinstance(outcome.error, OUTAGES):
        return Failed(reason_of(outcome.error))
    return outcome


def reason_of(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
