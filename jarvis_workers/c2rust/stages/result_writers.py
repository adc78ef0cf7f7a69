"""Insert results in the transaction of their commit, and delete the symbols of an earlier attempt."""

from typing import TYPE_CHECKING

from jarvis_workers.c2rust.stages.results import SymbolResult, TranslationResult
from jarvis_workers.c2rust.store import symbols
from jarvis_workers.store import translated_functions
from jarvis_workers.store.translation_pause import pause_by_share
from jarvis_workers.store.values import Run

if TYPE_CHECKING:
    from jarvis_workers.store.session import Session


def write_symbols(session: "Session", run_id: str, _: int, result: SymbolResult) -> None:
    """Insert the symbols of a run."""
    symbols.insert(session, run_id, result.graph)


def write_translation(session: "Session", run_id: str, job_id: int, result: TranslationResult) -> None:
    """Insert the outcome of a conversation, and pause the run if too many have none."""
    translated_functions.add(session, run_id, job_id, result.proof)
    if result.pause_share is not None:
        pause_by_share(session, run_id, job_id, result.pause_share)


def drop_symbols(session: "Session", run: Run) -> None:
    """Delete the symbols of a run before its units are linked again."""
    symbols.delete(session, run.id)
