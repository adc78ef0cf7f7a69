"""Locks that the functions of a file acquire in different orders."""

from bisect import bisect_left
from collections.abc import Iterator
from itertools import groupby, islice
from typing import NamedTuple

from jarvis_workers.sec.rules.analysis.function_exits import ways_out
from jarvis_workers.sec.rules.rule import REACH, Site
from jarvis_workers.source.calls import arguments
from jarvis_workers.source.functions import Function
from jarvis_workers.source.lazy_regex import lazy

# Calls in a file that acquire or release a lock, and the name of each lock.

CALLS_MAX, UNLOCKS_MAX = 128, 4_096
EXCLUSIVE = (
    b"pthread_mutex_lock pthread_rwlock_wrlock pthread_spin_lock mtx_lock g_mutex_lock uv_mutex_lock "
    b"uv_rwlock_wrlock SDL_LockMutex EnterCriticalSection AcquireSRWLockExclusive omp_set_lock "
    b"qemu_mutex_lock mutex_lock mutex_lock_interruptible mutex_lock_killable spin_lock spin_lock_irq "
    b"spin_lock_irqsave spin_lock_bh raw_spin_lock raw_spin_lock_irq raw_spin_lock_irqsave "
    b"raw_spin_lock_bh write_lock write_lock_irq write_lock_irqsave write_lock_bh down_write".split()
)
SHARED = (
    b"pthread_rwlock_rdlock uv_rwlock_rdlock AcquireSRWLockShared read_lock read_lock_irq read_lock_irqsave "
    b"read_lock_bh down_read rcu_read_lock".split()
)
# Each alternative begins with a literal byte, so that the search for the next one runs at full speed.
LOCK = lazy(
    b"|".join(
        rb"%b(?<=\b%b)(?:%b)\s*\(" % (first, first, b"|".join(name[1:] for name in names))
        for first, names in groupby(sorted(EXCLUSIVE), lambda name: name[:1])
    )
    + rb"|\.lock ?\(\)|->lock ?\(\)"
)
# Matches a superset of LOCK at several times the speed.
LIKE_A_LOCK = lazy(rb"lock(?<!unlock)(?!_unlock)\w*+\s*+\(|Lock\w*+\s*+\(|EnterCritical|down_write")
UNLOCK = lazy(
    rb"(?:unlock|Unlock|UnLock|UNLOCK|up_read|up_write|LeaveCriticalSection|ReleaseSRWLock|unset_lock|downgrade_write)"
    rb"\w*+\s*+\("
)
# Runs the handler that was pushed last.
POPPED = lazy(rb"pthread_cleanup_pop\s*+\(\s*+[1-9T]")
PUSHED = lazy(rb"pthread_cleanup_push\s*+(?=\()")
OBJECT = lazy(rb"([A-Za-z_][\w.:]*+(?>(?:->|\[[^][;]{0,32}\])[\w.]*+)*+)\Z")


class LockCall(NamedTuple):
    """A call that acquires or releases a lock."""

    at: int
    key: bytes
    end: int
    acquires: bool


class LockCalls:
    """The lock calls of a function in order, and the first acquisition of each lock."""

    def __init__(self, text: bytes, function: Function) -> None:
        ends = (*_unlocks(text, *function.body), *_popped(text, *function.body))
        self.all = sorted([*_locks(text, *function.body), *ends])
        self.first_acquired = {call.key: call.at for call in reversed(self.all) if call.acquires}
        self._places = [call.at for call in self.all]

    def between(self, start: int, end: int) -> list[LockCall]:
        return self.all[bisect_left(self._places, start) : bisect_left(self._places, end)]


def lock_calls(site: Site, function: Function) -> LockCalls:
    """Return the lock calls of a function, computed once."""
    return site.source.once(f"locks {function.body}", lambda: LockCalls(site.source.text, function))


def released_locks(site: Site) -> frozenset[bytes]:
    """Return the locks that are released anywhere in the file, computed once."""
    text = site.source.text
    return site.source.once("unlocked", lambda: frozenset(call.key for call in _unlocks(text, 0, len(text))))


def _locks(text: bytes, start: int, end: int) -> Iterator[LockCall]:
    for match in islice(LOCK.finditer(text, start, end), CALLS_MAX):
        if match[0].endswith(b"()"):
            found_match = OBJECT.search(text, max(start, match.start() - 96), match.start())
            key, at = (found_match[1], found_match.start()) if found_match else (b"", match.start())
        else:
            key, at = _first_argument(text, match.end() - 1), match.start()
        if key:
            yield LockCall(at, key, match.end(), acquires=True)


def _unlocks(text: bytes, start: int, end: int) -> Iterator[LockCall]:
    for match in islice(UNLOCK.finditer(text, start, end), UNLOCKS_MAX):
        key = _first_argument(text, match.end() - 1)
        if b"rcu" in text[match.start() - 9 : match.start()]:
            key = b"rcu"
        elif not key:
            found_match = OBJECT.search(text, max(start, match.start() - 98), max(start, match.start() - 1))
            arrow = OBJECT.search(text, max(start, match.start() - 98), max(start, match.start() - 2))
            key = found_match[1] if found_match else arrow[1] if arrow else b""
        yield LockCall(match.start(), key, match.end(), acquires=False)


def _popped(text: bytes, start: int, end: int) -> Iterator[LockCall]:
    """Yield the releases by handlers of pthread_cleanup_push whose argument is a lock."""
    for match in islice(POPPED.finditer(text, start, end), CALLS_MAX):
        at = text.rfind(b"pthread_cleanup_push", start, match.start())
        pushed = PUSHED.match(text, at) if at >= 0 else None
        spans = arguments(text, pushed.end()).spans if pushed else ()
        if len(spans) > 1:
            yield LockCall(match.start(), lock_key(text[slice(*spans[1])]), match.end(), acquires=False)


def _first_argument(text: bytes, at: int) -> bytes:
    spans = arguments(text, at).spans
    return lock_key(text[slice(*spans[0])]) if spans else b""


def lock_key(argument: bytes) -> bytes:
    return b"".join(argument.split()).strip(b"&()")


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
