"""Which candidates of a run count: sure enough, not suppressed or judged false, and not known to its baseline.

A run that was told to learn weighs the findings of a rule by what people have said of others: that is done here, where
candidates are read, and the store keeps what the rules have said.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from jarvis_workers.sec.finding import Candidate, Numbered
from jarvis_workers.sec.report.exclusions import begin_aside
from jarvis_workers.sec.triage import TriageVerdict, moved_by
from jarvis_workers.store import baselines, candidates, judgements
from jarvis_workers.store.runs import Run

if TYPE_CHECKING:
    from sqlmodel import Session


def counted_of(session: "Session", run: Run) -> Iterator[Numbered]:
    """Yield what counts, with its gid, in order."""
    least: float = run.options["min_confidence"]
    aside = begin_aside(known_of(session, run), judged_of(session, run))
    return ((gid, found) for gid, found in aside.counted(all_of(session, run), least) if found.confidence >= least)


def number_candidates(session: "Session", run: Run) -> None:
    """Give every candidate of a run its gid: before the first stage that refers to candidates by it."""
    candidates.number(session, run.id, run.options.get("min_confidence", 0.0), learned_of(run))


def all_of(session: "Session", run: Run) -> Iterator[Numbered]:
    """Yield every candidate of a run with its gid, in order."""
    return _weighed(run, candidates.read(session, run.id))


def some_of(session: "Session", run: Run, gids: Collection[int]) -> list[tuple[int, Candidate]]:
    """Return some candidates of a run that is numbered, in order."""
    return list(_weighed(run, candidates.of_gids(session, run.id, gids)))


def known_of(session: "Session", run: Run) -> dict[str, int] | None:
    """Return what the run's baseline knew, or None where it has none."""
    return baselines.read(session, run.id) if "baseline" in run.options else None


def judged_of(session: "Session", run: Run) -> Mapping[str, TriageVerdict]:
    """Return what people had said of findings when the run was submitted, by fingerprint."""
    return judgements.given(session, run.id)


def severities_of(run: Run) -> dict[str, str]:
    """Return the severities that the user has given to rules."""
    given: dict[str, str] = run.options.get("rules", {}).get("severity", {})
    return given


def learned_of(run: Run) -> dict[str, float]:
    """Return by rule how far judgements have moved its confidence, in a run that was told to learn."""
    learned: dict[str, float] = run.options.get("rules", {}).get("learned", {})
    return learned


def _weighed(run: Run, numbered: Iterable[tuple[int, Candidate]]) -> Iterator[tuple[int, Candidate]]:
    learned = learned_of(run)
    for gid, found in numbered:
        moved = learned.get(found.pattern)
        yield gid, found if moved is None else found._replace(confidence=moved_by(found.confidence, moved))
