"""Severities, scores, and the order of categories; importing this module does not load the rules."""

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


def severity_of(confidence: float) -> str:
    if confidence >= 0.8:
        return "high"
    return "medium" if confidence >= 0.6 else "low"


def score_of(confidence: float, severity: str | None = None) -> float:
    """Multiply the confidence by the weight of a severity, by default the severity derived from the confidence."""
    return round(confidence * WEIGHTS[severity or severity_of(confidence)], 2)


def is_at_least(severity: str, level: str) -> bool:
    """Return whether a severity reaches the level of `--fail-on`."""
    return SEVERITIES.index(severity) >= SEVERITIES.index(level)
