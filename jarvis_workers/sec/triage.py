"""Triage states, and how verdicts of people move the confidence of rules: light, as every report needs them."""

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

from jarvis_workers.sec.scanner import LEAST, MOST

__all__ = [
    "NOTHING_JUDGED",
    "PRIOR_WEIGHT",
    "TriageState",
    "TriageVerdict",
    "learned_confidence",
    "moved_by",
    "stated_at_least",
]

# The stated confidence of a rule weighs as much as so many judgements.
PRIOR_WEIGHT = 10
# Sums of hundredths are not exact.
ROUNDING = 1e-9


class TriageState(StrEnum):
    """What a person says of a finding.

    TRUE and LATER (postponed) stay in the report; FALSE (a false alarm) and WONTFIX (real, risk accepted) are set
    aside with their reason.
    """

    TRUE = "true"
    FALSE = "false"
    WONTFIX = "wontfix"
    LATER = "later"

    @classmethod
    def read(cls, value: object) -> object:
        """Turn true and false, as YAML and older files have them, into their states; leave all else for validation."""
        return (cls.TRUE if value else cls.FALSE) if isinstance(value, bool) else value

    @property
    def is_aside(self) -> bool:
        """Whether the finding is left out of the list and of the exit code."""
        return self in (TriageState.FALSE, TriageState.WONTFIX)

    @property
    def needs_reason(self) -> bool:
        return self.is_aside

    @property
    def plain_value(self) -> bool | str:
        """The state as YAML and JSON have it: true and false are booleans, the others words."""
        return {"true": True, "false": False}.get(self.value, self.value)


class TriageVerdict(NamedTuple):
    """As much of a judgement as a run needs to know."""

    verdict: TriageState
    reason: str


NOTHING_JUDGED: Mapping[str, TriageVerdict] = {}


def learned_confidence(stated: float, true: int, false: int) -> float:
    """Return the mean of Beta(stated x PRIOR_WEIGHT + true, (1 - stated) x PRIOR_WEIGHT + false)."""
    return (stated * PRIOR_WEIGHT + true) / (PRIOR_WEIGHT + true + false)


def moved_by(confidence: float, learned: float) -> float:
    """Move the confidence of a finding as far as that of its rule has moved, within what any finding has."""
    return round(min(MOST, max(LEAST, confidence + learned)), 2)


def stated_at_least(least: float, learned: float) -> float:
    """Return the confidence from which on `moved_by` gives at least `least`."""
    return least if least <= LEAST else least - learned - ROUNDING
