"""Locks that the functions of a file acquire in different orders."""

from bisect import bisect_left
from itertools import islice

from jarvis_workers.sec.rules.analysis.function_exits import ways_out
from jarvis_workers.sec.rules.analysis.lock_calls import LIKE_A_LOCK, LockCall, lock_calls
from jarvis_workers.sec.rules.rule import REACH, Site
from jarvis_workers.source.functions import Function
from jarvis_workers.source.lazy_regex import lazy

FUNCTIONS_MAX, PAIRED_MAX = 2_000, 12
GLOBAL = lazy(rb"[A-Za-z_]\w*+\Z")
MEMBER = lazy(rb"[A-Za-z_]\w*+(?:->|\.)[\w.]++\Z")


def inverted_lock(site: Site, call: LockCall, function: Function) -> bytes | None:
    """Return a lock held at the call that another function of the file acquires only after the call's lock."""
    pairs = site.source.once("lock pairs", lambda: _pairs(site))
    for first in pairs.outer_locks.get((call.key, call.at), ()):
        if pairs.functions.get((call.key, first), set()) - {function.name}:
            return first
    return None


class _LockPairs:
    """Locks held at each acquisition of another lock, and the functions that acquire each pair in this order."""

    def __init__(self) -> None:
        self.outer_locks: dict[tuple[bytes, int], list[bytes]] = {}
        self.functions: dict[tuple[bytes, bytes], set[bytes]] = {}

    def add(self, outer: bytes, key: bytes, name: bytes, at: int) -> None:
        self.outer_locks.setdefault((key, at), []).append(outer)
        self.functions.setdefault((outer, key), set()).add(name)


def _pairs(site: Site) -> _LockPairs:
    pairs = _LockPairs()
    for one in islice(site.source.functions, FUNCTIONS_MAX):
        if _may_acquire_two(site, one):
            for outer, key, at in _pairs_of(site, one):
                pairs.add(outer, key, one.name, at)
    return pairs


def _may_acquire_two(site: Site, function: Function) -> bool:
    """Return whether a function has two likely acquisitions (a quick test that rejects most functions)."""
    source = site.source
    calls = source.once("lock calls", lambda: [match.start() for match in LIKE_A_LOCK.finditer(source.text)])
    return bisect_left(calls, function.body[1]) - bisect_left(calls, function.body[0]) > 1


def _pairs_of(site: Site, function: Function) -> list[tuple[bytes, bytes, int]]:
    """Return the lock pairs of a function, except pairs acquired in both orders, which is assumed to be intended."""
    text, end = site.source.text, function.body[1]
    calls = lock_calls(site, function).all
    acquisitions = [call for call in calls if call.acquires and (GLOBAL.match(call.key) or MEMBER.match(call.key))]
    if len({call.key for call in acquisitions}) < 2 or len(acquisitions) > PAIRED_MAX:
        return []
    result: dict[tuple[bytes, bytes], int] = {}
    for call in acquisitions:
        others = {other.at: other.key for other in acquisitions if other.key != call.key}
        releases = [other.at for other in calls if other.key == call.key and not other.acquires]
        for way in ways_out(text, (call.end, min(end, call.end + REACH)), releases, list(others)):
            if way.kind == "again":
                result.setdefault((call.key, others[way.at]), way.at)
    return [(outer, key, at) for (outer, key), at in result.items() if (key, outer) not in result]
