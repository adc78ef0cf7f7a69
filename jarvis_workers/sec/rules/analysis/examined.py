"""A bound on the sites of a file that a costly check examines, so that generated or hostile files cost no minutes."""

from collections import Counter

from jarvis_workers.sec.rules.rule import Site, SourceText
from jarvis_workers.source.functions import MANY_MARKS

EXAMINED_MAX = 2_000
COUNTS = "examined"


def is_examined(site: Site, pattern: str) -> bool:
    """Return whether a rule examines this site: only the first EXAMINED_MAX of a file that pass its cheap tests."""
    counts: Counter[str] = site.source.once(COUNTS, Counter)
    counts[pattern] += 1
    return counts[pattern] <= EXAMINED_MAX


def unexamined(source: SourceText) -> str | None:
    """Return which rules did not examine all their sites in a file, or as far as which line they know its functions.

    None if all was examined.
    """
    counts: Counter[str] = source.once(COUNTS, Counter)
    beyond = sorted(pattern for pattern, count in counts.items() if count > EXAMINED_MAX)
    if beyond:
        return f"{', '.join(beyond)}: checked only the first {EXAMINED_MAX} possible places"
    if source.unsearched is None:
        return None
    line = source.content.count(b"\n", 0, source.unsearched) + 1
    return f"{MANY_MARKS}; functions are checked only as far as line {line}"
