"""Which candidates of a run count: sure enough, not suppressed, and not known to its baseline."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from jarvis_workers.sec.finding import Numbered
from jarvis_workers.sec.report.aside import begin_aside
from jarvis_workers.store import baselines, candidates
from jarvis_workers.store.runs import Run

if TYPE_CHECKING:
    from sqlmodel import Session


def counted_of(session: "Session", run: Run) -> Iterator[Numbered]:
    """Yield what counts, with its gid, in order."""
    least: float = run.options["min_confidence"]
    aside = begin_aside(known_of(session, run))
    counted = aside.counted(candidates.read(session, run.id), least)
    return ((gid, found) for gid, found in counted if found.confidence >= least)


def known_of(session: "Session", run: Run) -> dict[str, int] | None:
    """Return what the run's baseline knew, or None where it has none."""
    return baselines.read(session, run.id) if "baseline" in run.options else None


def severities_of(run: Run) -> dict[str, str]:
    """Return the severities that the user has given to rules."""
    given: dict[str, str] = run.options.get("rules", {}).get("severity", {})
    return given
