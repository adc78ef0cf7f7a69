"""Triage verdicts: stored, undone, given to later runs, and learned from."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from jarvis_workers.sec.rules import Rule
from jarvis_workers.sec.triage_record import Judgement, learned_confidence
from jarvis_workers.store import judgements, triage_operations
from jarvis_workers.store.engine import Store
from jarvis_workers.store.triage_operations import TriageChange

if TYPE_CHECKING:
    from sqlmodel import Session

__all__ = [
    "JUDGED_MIN",
    "Named",
    "RuleRecord",
    "Undone",
    "forget",
    "judge",
    "kept_judgements",
    "learned_shifts",
    "records_of",
    "take_in",
    "undo",
]

# Fewer judgements say too little of a rule.
JUDGED_MIN = 10


class Named(NamedTuple):
    """An operation of the history, in words, and who carried it out."""

    change: str
    by: str


class Undone(NamedTuple):
    """What an undo has done: the operation in words, how many judgements are as before, and how many were left."""

    change: str
    restored: int
    left: int


class RuleRecord(NamedTuple):
    """How the findings of a rule were judged, and what follows from that for its confidence."""

    rule: str
    true: int
    false: int
    stated: float

    @property
    def share(self) -> float:
        """How many were true, of those judged."""
        return self.true / (self.true + self.false)

    @property
    def learned(self) -> float:
        return round(learned_confidence(self.stated, self.true, self.false), 2)

    @property
    def is_enough(self) -> bool:
        return self.true + self.false >= JUDGED_MIN

    def as_json(self) -> dict[str, Any]:
        """Return it for programs."""
        return {**self._asdict(), "share": round(self.share, 4), "learned": self.learned, "enough": self.is_enough}


def kept_judgements(store: Store) -> dict[str, Judgement]:
    """Return all that is kept, by fingerprint."""
    with store.read() as session:
        return judgements.read(session)


def judge(store: Store, said: Iterable[Judgement], operation: Named | None = None) -> None:
    """Keep what was said as the last word; given an `operation`, `undo` can take it back."""
    made = list(said)
    with store.write() as session, _recorded(session, operation, {one.fingerprint for one in made}):
        judgements.judge(session, made)


def take_in(store: Store, said: Iterable[Judgement], operation: Named | None = None) -> int:
    """Keep what was said elsewhere, unless there is a later word; return how many are new here."""
    made = list(said)
    with store.write() as session, _recorded(session, operation, {one.fingerprint for one in made}):
        return judgements.take_in(session, made)


def forget(store: Store, fingerprints: Iterable[str], operation: Named | None = None) -> None:
    """Take judgements back."""
    names = set(fingerprints)
    with store.write() as session, _recorded(session, operation, names):
        judgements.forget(session, names)


def undo(store: Store, by: str) -> Undone | None:
    """Undo the last operation of a user: what it changed is as it was before. None if there is none.

    What was judged again since then keeps the later word.
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
    """Record what the block changes, as an operation."""
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
    """Return the rules of which findings were judged, the one with most judgements first."""
    with store.read() as session:
        counts = judgements.count(session)
    found = [
        RuleRecord(rule.pattern, *counts[rule.pattern], rule.confidence) for rule in rules if rule.pattern in counts
    ]
    return sorted(found, key=lambda record: (-record.true - record.false, record.rule))


def learned_shifts(store: Store, rules: Sequence[Rule]) -> Mapping[str, float]:
    """Say how far the confidence of rules moves by what was judged, where that is enough."""
    return dict(_shifts(records_of(store, rules)))


def _shifts(records: Iterable[RuleRecord]) -> Iterator[tuple[str, float]]:
    for record in records:
        shift = round(record.learned - record.stated, 2)
        if record.is_enough and shift:
            yield record.rule, shift
