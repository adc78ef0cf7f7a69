"""What a candidate of an alert says: the id of its rule, category, likelihood and texts."""

import re
from functools import cache

from jarvis_workers.paths import plain
from jarvis_workers.sec.alerts.alert import Alert
from jarvis_workers.sec.rules import RULES

# Of alerts by their analyzer's level, until it is known who else reports them. These numbers are not measured.
BY_LEVEL = {"error": 0.6, "warning": 0.5, "high": 0.6, "critical": 0.6, "medium": 0.5}
OTHERS = 0.4
OTHER_CATEGORY = "other_analyzer"
NO_ID = re.compile(r"[^\w.:/+#@-]+", re.ASCII)
ID_MAX = 120


def pattern_of(alert: Alert) -> str:
    """Return the id of the rule: that of the tool, and its own, in characters that ids of rules have."""
    tool, rule = (NO_ID.sub("_", name).strip("_") or "unknown" for name in (alert.tool.lower(), alert.rule))
    return f"{tool}:{rule}"[:ID_MAX]


def confidence_of(alert: Alert) -> float:
    return BY_LEVEL.get(alert.level.lower(), OTHERS)


def category_of(alert: Alert) -> str:
    """Return the category of the rules for the same weakness."""
    return _categories().get(alert.cwe, OTHER_CATEGORY)


@cache
def _categories() -> dict[int, str]:
    return {rule.cwe: rule.category for rule in reversed(RULES)}


def description_of(alert: Alert) -> str:
    """Return what the analyzer says, and how severe it finds it."""
    level = f" ({plain(alert.level)})" if alert.level else ""
    times = f", reported {alert.times} times" if alert.times > 1 else ""
    return f"{plain(alert.tool)}{level}: {plain(alert.text or alert.title or alert.rule)}{times}"


def remedy_of(alert: Alert) -> str:
    return f"See the documentation of {plain(alert.rule)} in {plain(alert.tool)}."
