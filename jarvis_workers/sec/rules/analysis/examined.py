"""A bound on the sites of a file that a costly check examines, so that generated or hostile files cost no minutes."""

from collections import Counter

from jarvis_workers.sec.rules.rule import Site

EXAMINED_MAX = 2_000


def is_examined(site: Site, pattern: str) -> bool:
    """Return whether a rule examines this site: only the first EXAMINED_MAX of a file that pass its cheap tests."""
    counts: Counter[str] = site.source.once("examined", Counter)
    counts[pattern] += 1
    return counts[pattern] <= EXAMINED_MAX
