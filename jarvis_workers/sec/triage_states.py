"""Triage states of findings, and the effect of triage on the confidence of rules."""

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

from jarvis_workers.sec.scanner import LEAST, MOST

# The stated confidence of a rule has the weight of this number of judgements.
PRIOR_WEIGHT = 10
# Sums of hundredths are not exact.
ROUNDING = 1e-9


class TriageState(StrEnum):
    """A person's decision on a finding.

    TRUE and LATER (postponed) stay in the report; FALSE (a false positive) and WONTFIX (real, risk accepted) are set
    aside with their reason.
    """

    TRUE = "true"
    FALSE = "false"
    WONTFIX = "wontfix"
    LATER = "later"

    @classmethod
    def read(cls, value: object) -> object:
        """Convert booleans, as in YAML and older files, to their states; leave other values to validation."""
        return (cls.TRUE if value else cls.FALSE) if isinstance(value, bool) else value

    @property
    def is_aside(self) -> bool:
        """Whether findings in this state are excluded from the list and the exit code."""
        return self in (TriageState.FALSE, TriageState.WONTFIX)

    @property
    def needs_reason(self) -> bool:
        return self.is_aside

    @property
    def plain_value(self) -> bool | str:
        """The state in YAML and JSON: true and false are booleans, other states are strings."""
        return {"true": True, "false": False}.get(self.value, self.value)


class TriageVerdict(NamedTuple):
    """The part of a person's judgement that a run needs."""

    verdict: TriageState
    reason: str


NOTHING_JUDGED: Mapping[str, TriageVerdict] = {}


def learned_confidence(stated: float, true: int, false: int) -> float:
    """Return the mean of Beta(stated x PRIOR_WEIGHT + true, (1 - stated) x PRIOR_WEIGHT + false)."""
    return (stated * PRIOR_WEIGHT + true) / (PRIOR_WEIGHT + true + false)


def moved_by(confidence: float, learned: float) -> float:
    """Add the learned change of a rule's confidence to the confidence of a finding, clamped to the valid range."""
    return round(min(MOST, max(LEAST, confidence + learned)), 2)


def unadjusted_minimum(least: float, learned: float) -> float:
    """Return the smallest confidence for which `moved_by` returns at least `least`."""
    return least if least <= LEAST else least - learned - ROUNDING
