"""Severities, scores, and the order of categories; importing this module does not load the rules.

How likely a finding is (its confidence) and what the defect would do are separate: a severity is made of both.  What
a defect does follows from its weakness (CWE), in HARMS from the worst to the least.  Where its data come from counts as
much: what data from outside of the program can cause has the lower thresholds.

Medium means that a person should look, high that a build may stop.  As in CVSS base scores and CodeQL's
security-severity, injection and corruption of memory are rated above a crash, and a crash above a leak: corruption is
worth a look however unlikely it seems, and stops a build if it is more likely than not.  Failed allocations (CWE-690),
leaks and style are never high, however certain: only a lack of memory triggers them, or they do little harm.
"""

from typing import NamedTuple

# Categories in the order of reports; other categories follow.
CATEGORY_ORDER = (
    "unsafe_api",
    "buffer_overflow",
    "memory_mgmt",
    "error_handling",
    "unsafe_usage",
    "concurrency",
    "thread_safety",
    "input_validation",
    "crypto",
    "resource_leak",
    "network_api",
    "insecure_permissions",
)
# Severities from the least to the most severe, with the weight of each in a score.
WEIGHTS = {"low": 1, "medium": 2, "high": 3}
SEVERITIES = tuple(WEIGHTS)
NEVER = 2.0


class Harm(NamedTuple):
    """The confidence from which findings of a class are of medium and of high severity, first without outside data."""

    medium: float
    high: float
    medium_outside: float
    high_outside: float


HARMS = {
    "execution": Harm(0.5, 0.7, 0.4, 0.6),
    "write": Harm(0.4, 0.7, 0.4, 0.6),
    "read": Harm(0.4, 0.8, 0.4, 0.65),
    "use after release": Harm(0.45, 0.7, 0.4, 0.6),
    "arithmetic": Harm(0.5, 0.8, 0.4, 0.7),
    "other": Harm(0.6, 0.8, 0.5, 0.8),
    "crash": Harm(0.6, NEVER, 0.5, 0.8),
    "failed allocation": Harm(0.6, NEVER, 0.6, NEVER),
    "leak": Harm(0.8, NEVER, 0.7, NEVER),
    "style": Harm(0.8, NEVER, 0.7, NEVER),
}
WORST_HARM_FIRST = tuple(HARMS)
WEAKNESSES = {
    "execution": (22, 23, 36, 73, 77, 78, 88, 89, 94, 134),
    "write": (120, 121, 122, 123, 124, 129, 131, 170, 193, 680, 785, 787, 788, 805, 806, 823, 843),
    "read": (125, 126, 127, 456, 457, 665, 824, 908, 909),
    "use after release": (415, 416, 562, 590, 672, 761, 762, 763, 825, 1341),
    "arithmetic": (128, 190, 191, 192, 194, 195, 196, 197, 681, 682, 839, 1335),
    "crash": (248, 369, 476, 617, 674, 770, 789, 834, 835),
    "failed allocation": (690,),
    "leak": (400, 401, 404, 460, 771, 772, 775),
    "style": (252, 391, 477, 695),
}
HARM_OF = {weakness: harm for harm, weaknesses in WEAKNESSES.items() for weakness in weaknesses}


def harm_of(cwe: int) -> str:
    """Return the class of what a weakness does, one of HARMS."""
    return HARM_OF.get(cwe, "other")


def severity_of(confidence: float, cwe: int = 0, *, outside: bool = False) -> str:
    """Return the severity of a finding; `outside` tells that data from outside of the program lead to it."""
    medium, high, medium_outside, high_outside = HARMS[harm_of(cwe)]
    if outside:
        medium, high = medium_outside, high_outside
    if confidence >= high:
        return "high"
    return "medium" if confidence >= medium else "low"


def likelihood_of(confidence: float) -> str:
    """Return how likely a finding is in three words, whatever it would do."""
    return severity_of(confidence)


def score_of(confidence: float, severity: str) -> float:
    """Multiply the confidence by the weight of a severity."""
    return round(confidence * WEIGHTS[severity], 2)


def is_at_least(severity: str, level: str) -> bool:
    """Return whether a severity reaches the level of `--fail-on`."""
    return SEVERITIES.index(severity) >= SEVERITIES.index(level)
