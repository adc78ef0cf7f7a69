"""Insert the result of linking in the transaction of its commit, and delete the result of an earlier attempt."""

from typing import TYPE_CHECKING

from jarvis_workers.steps.c2rust.results import SymbolResult
from jarvis_workers.store import symbols
from jarvis_workers.store.runs import Run

if TYPE_CHECKING:
    from sqlmodel import Session


def write_symbols(session: "Session", run_id: str, _: int, result: SymbolResult) -> None:
    """Insert the symbols of a run."""
    symbols.insert(session, run_id, result.graph)


def drop_symbols(session: "Session", run: Run) -> None:
    """Delete the symbols of a run before its units are linked again."""
    symbols.delete(session, run.id)
