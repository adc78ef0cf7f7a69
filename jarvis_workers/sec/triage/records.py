"""Triage verdicts: saving, undo, copies for runs, and adjusting the confidence of rules by them."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from jarvis_workers.sec.rules import Rule
from jarvis_workers.sec.store import judgements, triage_operations
from jarvis_workers.sec.store.triage_operations import TriageChange
from jarvis_workers.sec.triage_record import Judgement
from jarvis_workers.sec.triage_states import learned_confidence
from jarvis_workers.store.engine import Store

if TYPE_CHECKING:
    from jarvis_workers.store.session import Session

# With fewer verdicts the confidence of a rule is not adjusted.
JUDGED_MIN = 10


class Named(NamedTuple):
    """An operation for the history: its description and its user."""

    change: str
    by: str


class Undone(NamedTuple):
    """The result of an undo: the operation, the number of verdicts restored, and the number left unchanged."""

    change: str
    restored: int
    left: int


class RuleRecord(NamedTuple):
    """The verdicts on the findings of a rule, and its adjusted confidence."""

    rule: str
    true: int
    false: int
    stated: float

    @property
    def share(self) -> float:
        """The share of findings judged true."""
        return self.true / (self.true + self.false)

    @property
    def learned(self) -> float:
        return round(learned_confidence(self.stated, self.true, self.false), 2)

    @property
    def is_enough(self) -> bool:
        return self.true + self.false >= JUDGED_MIN

    def as_json(self) -> dict[str, Any]:
        """Return the record as JSON data."""
        return {**self._asdict(), "share": round(self.share, 4), "learned": self.learned, "enough": self.is_enough}


def stored_judgements(store: Store) -> dict[str, Judgement]:
    """Return all stored verdicts by fingerprint."""
    with store.read() as session:
        return judgements.read(session)


def judge(store: Store, entries: Iterable[Judgement], operation: Named | None = None) -> None:
    """Save new verdicts; with an `operation`, `undo` can revert them."""
    made = list(entries)
    with store.write() as session, _recorded(session, operation, {one.fingerprint for one in made}):
        judgements.judge(session, made)


def merge_judgements(store: Store, entries: Iterable[Judgement], operation: Named | None = None) -> int:
    """Import verdicts, unless later ones are stored; return how many are new."""
    made = list(entries)
    with store.write() as session, _recorded(session, operation, {one.fingerprint for one in made}):
        return judgements.merge(session, made)


def forget(store: Store, fingerprints: Iterable[str], operation: Named | None = None) -> None:
    """Delete verdicts."""
    names = set(fingerprints)
    with store.write() as session, _recorded(session, operation, names):
        judgements.forget(session, names)


def undo(store: Store, by: str) -> Undone | None:
    """Undo the last operation of a user by restoring the verdicts before it. None if there is none.

    Verdicts changed since then are left unchanged.
    """
    with store.write() as session:
        last = triage_operations.latest(session, by)
        if last is None:
            return None
        present = judgements.find(session, last.changes.keys())
        same = {name: change for name, change in last.changes.items() if _time_of(present.get(name)) == change.after_at}
        judgements.forget(session, [name for name, change in same.items() if change.before is None])
        judgements.put(session, [change.before for change in same.values() if change.before is not None])
        triage_operations.drop(session, last.id)
    return Undone(last.change, len(same), len(last.changes) - len(same))


@contextmanager
def _recorded(session: "Session", operation: Named | None, fingerprints: Collection[str]) -> Iterator[None]:
    """Record the changes made in the block as an operation."""
    before = judgements.find(session, fingerprints) if operation else {}
    yield
    if not operation:
        return
    after = judgements.find(session, fingerprints)
    changes = {
        name: TriageChange(before.get(name), _time_of(after.get(name)))
        for name in sorted(fingerprints)
        if before.get(name) != after.get(name)
    }
    if changes:
        triage_operations.record(session, operation.change, operation.by, changes)


def _time_of(judgement: Judgement | None) -> float | None:
    return None if judgement is None else judgement.at


def records_of(store: Store, rules: Iterable[Rule]) -> list[RuleRecord]:
    """Return the rules with verdicts, those with the most verdicts first."""
    with store.read() as session:
        counts = judgements.count(session)
    result = [
        RuleRecord(rule.pattern, *counts[rule.pattern], rule.confidence) for rule in rules if rule.pattern in counts
    ]
    return sorted(result, key=lambda record: (-record.true - record.false, record.rule))


def learned_shifts(store: Store, rules: Sequence[Rule]) -> Mapping[str, float]:
    """Return the adjustments of confidence by rule, for rules with enough verdicts."""
    return dict(_shifts(records_of(store, rules)))


def _shifts(records: Iterable[RuleRecord]) -> Iterator[tuple[str, float]]:
    for record in records:
        shift = round(record.learned - record.stated, 2)
        if record.is_enough and shift:
            yield record.rule, shift
