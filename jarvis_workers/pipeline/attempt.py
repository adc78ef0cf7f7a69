"""One attempt at a job: execute it, and classify what it raises.

The boundary of a job, the same in every executor: a child, a thread, an event loop or a pool process calls `attempt`,
and the process that may write the store applies the outcome to the job's row.

Done       its result is committed where the lease is still held
Lost       its lease was lost meanwhile: nothing is saved
Failed     its own work raised: a failed attempt, retried later, then not checked
Released   cancelled, out of budget, or the store refused: pending again, and no attempt is counted
Full       there is no space for its result: released, and its run is paused
Died       its process ended: a crash, which its executor has seen from outside
"""

from collections.abc import Callable
from concurrent.futures import CancelledError
from dataclasses import dataclass

from jarvis_workers.errors import BudgetSpent, StoreError, StoreFull
from jarvis_workers.store.values import Commit

__all__ = ["AttemptOutcome", "Died", "Done", "Failed", "Full", "Lost", "Released", "attempt", "attempt_without_store"]


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


AttemptOutcome = Done | Lost | Failed | Released | Full | Died


def attempt(execute: Callable[[], Commit | None]) -> AttemptOutcome:
    """Execute a job, which returns None if its lease was lost; raises only what is no Exception, such as Ctrl-C."""
    try:
        commit = execute()
    except StoreFull as full:
        return Full(str(full))
    except (StoreError, BudgetSpent, CancelledError) as error:
        return Released(error)
    except Exception as error:  # noqa: BLE001  (the boundary of a job)
        return Failed(_reason(error))
    return Lost() if commit is None else Done(commit)


def attempt_without_store(execute: Callable[[], Commit]) -> AttemptOutcome:
    """Attempt a job that opens no store: a StoreError, of the blob store, counts as a failed attempt."""
    outcome = attempt(execute)
    return Failed(_reason(outcome.error)) if isinstance(outcome, Released) else outcome


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
