"""A bound on the sites of a file that a costly check examines, so that generated or hostile files cost no minutes."""

from collections import Counter

from jarvis_workers.sec.rules.rule import Site, SourceText

EXAMINED_MAX = 2_000
COUNTS = "examined"


def is_examined(site: Site, pattern: str) -> bool:
    """Return whether a rule examines this site: only the first EXAMINED_MAX of a file that pass its cheap tests."""
    counts: Counter[str] = site.source.once(COUNTS, Counter)
    counts[pattern] += 1
    return counts[pattern] <= EXAMINED_MAX


def unexamined(source: SourceText) -> str | None:
    """Return which rules did not examine all their sites in a file; None if all did."""
    counts: Counter[str] = source.once(COUNTS, Counter)
    beyond = sorted(pattern for pattern, count in counts.items() if count > EXAMINED_MAX)
    return f"{', '.join(beyond)}: only the first {EXAMINED_MAX} possible places were checked" if beyond else None
