"""What people have said of findings: true or false, by whom and why, known by the finding's fingerprint."""

from collections.abc import Mapping
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict

from jarvis_workers.sec.scanner import LEAST, MOST

__all__ = ["NOTHING_JUDGED", "PRIOR_WEIGHT", "Judged", "Judgement", "learned_confidence", "moved_by", "stated_at_least"]

# The stated confidence of a rule weighs as much as so many judgements.
PRIOR_WEIGHT = 10
# Sums of hundredths are not exact.
ROUNDING = 1e-9


class Judgement(BaseModel):
    """A person's word on a finding; `file` is where it was, for people alone.

    `at` is in seconds since 1970, None before the store has said when.
    """

    model_config = ConfigDict(frozen=True)

    fingerprint: str
    rule: str
    verdict: bool
    reason: str = ""
    by: str = ""
    file: str = ""
    at: float | None = None


class Judged(NamedTuple):
    """As much of a judgement as a run needs to know."""

    verdict: bool
    reason: str


NOTHING_JUDGED: Mapping[str, Judged] = {}


def learned_confidence(stated: float, true: int, false: int) -> float:
    """Return the mean of Beta(stated x PRIOR_WEIGHT + true, (1 - stated) x PRIOR_WEIGHT + false)."""
    return (stated * PRIOR_WEIGHT + true) / (PRIOR_WEIGHT + true + false)


def moved_by(confidence: float, learned: float) -> float:
    """Move the confidence of a finding as far as that of its rule has moved, within what any finding has."""
    return round(min(MOST, max(LEAST, confidence + learned)), 2)


def stated_at_least(least: float, learned: float) -> float:
    """Return the confidence from which on `moved_by` gives at least `least`."""
    return least if least <= LEAST else least - learned - ROUNDING
