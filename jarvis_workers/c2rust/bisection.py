"""Bisection: find the functions to remove from a set so that the rest passes, by testing subsets in a fixed order."""

from collections.abc import Callable, Sequence


def find_culprits(names: Sequence[str], passes: Callable[[Sequence[str]], bool]) -> list[str]:
    """Return the names to remove from `names` so that the others pass, in the order in which they were found.

    `passes` returns whether a subset passes, and must be deterministic.  A culprit is the last name of the shortest
    prefix that fails; finding each takes about log2(n) runs.  In the worst case every name is a culprit.
    """
    remaining, culprits = list(names), list[str]()
    while remaining and not passes(remaining):
        culprit = remaining[_shortest_failing(remaining, passes) - 1]
        culprits.append(culprit)
        remaining.remove(culprit)
    return culprits


def _shortest_failing(names: Sequence[str], passes: Callable[[Sequence[str]], bool]) -> int:
    """Return the length of the shortest prefix that fails, given that `names` as a whole fails."""
    passing, failing = 0, len(names)
    while failing - passing > 1:
        middle = (passing + failing) // 2
        if passes(names[:middle]):
            passing = middle
        else:
            failing = middle
    return failing
