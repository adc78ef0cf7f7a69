"""What people have said of findings: kept as the last word, given to the runs that come later, and learned from."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from jarvis_workers.sec.judgement import Judgement, learned_confidence
from jarvis_workers.sec.rules import Rule
from jarvis_workers.store import judgements
from jarvis_workers.store.engine import Store

__all__ = [
    "JUDGED_MIN",
    "RuleRecord",
    "Triage",
    "forget",
    "judge",
    "kept_judgements",
    "learned_shifts",
    "records_of",
    "take_in",
]

# Fewer judgements say too little of a rule.
JUDGED_MIN = 10


@dataclass(frozen=True, slots=True)
class Triage:
    """What a run heeds: what the store keeps, if `kept`, and `more` of the file `named`, which wins.

    One that `learns` weighs findings as judgements of others suggest.
    """

    kept: bool = True
    more: tuple[Judgement, ...] = ()
    named: str | None = None
    learns: bool = False


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


def judge(store: Store, said: Iterable[Judgement]) -> None:
    """Keep what was said as the last word."""
    with store.write() as session:
        judgements.judge(session, said)


def take_in(store: Store, said: Iterable[Judgement]) -> int:
    """Keep what was said elsewhere, unless there is a later word; return how many are new here."""
    with store.write() as session:
        return judgements.take_in(session, said)


def forget(store: Store, fingerprints: Iterable[str]) -> None:
    """Take judgements back."""
    with store.write() as session:
        judgements.forget(session, set(fingerprints))


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
