"""Which candidates of a run count: sure enough, not suppressed or judged false, and not known to its baseline.

A run that was told to learn weighs the findings of a rule by what people have said of others: that is done here, where
candidates are read, and the store keeps what the rules have said.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from jarvis_workers.sec.finding import Candidate, Numbered
from jarvis_workers.sec.report.exclusions import begin_aside
from jarvis_workers.sec.triage import TriageVerdict, moved_by
from jarvis_workers.steps.sec.options import SecOptions
from jarvis_workers.store import baselines, candidates, judgements
from jarvis_workers.store.runs import Run

if TYPE_CHECKING:
    from sqlmodel import Session


def counted_of(session: "Session", run: Run) -> Iterator[Numbered]:
    """Yield what counts, with its gid, in order."""
    least = SecOptions.of(run).min_confidence
    aside = begin_aside(known_of(session, run), judged_of(session, run))
    return ((gid, found) for gid, found in aside.counted(all_of(session, run), least) if found.confidence >= least)


def number_candidates(session: "Session", run: Run) -> None:
    """Give every candidate of a run its gid: before the first stage that refers to candidates by it."""
    options = SecOptions.of(run)
    candidates.number(session, run.id, options.min_confidence, options.rules.learned)


def all_of(session: "Session", run: Run) -> Iterator[Numbered]:
    """Yield every candidate of a run with its gid, in order."""
    return _weighed(run, candidates.read(session, run.id))


def some_of(session: "Session", run: Run, gids: Collection[int]) -> list[tuple[int, Candidate]]:
    """Return some candidates of a run that is numbered, in order."""
    return list(_weighed(run, candidates.of_gids(session, run.id, gids)))


def known_of(session: "Session", run: Run) -> dict[str, int] | None:
    """Return what the run's baseline knew, or None where it has none."""
    return None if SecOptions.of(run).baseline is None else baselines.read(session, run.id)


def judged_of(session: "Session", run: Run) -> Mapping[str, TriageVerdict]:
    """Return what people had said of findings when the run was submitted, by fingerprint."""
    return judgements.given(session, run.id)


def _weighed(run: Run, numbered: Iterable[tuple[int, Candidate]]) -> Iterator[tuple[int, Candidate]]:
    learned = SecOptions.of(run).rules.learned
    for gid, found in numbered:
        moved = learned.get(found.pattern)
        yield gid, found if moved is None else found._replace(confidence=moved_by(found.confidence, moved))
