"""deadlock_patterns: a lock taken twice, kept on a way out, or taken in another order than elsewhere in the file.

What a lock is called is what stands in the call, without spaces and `&`.  A function that never gives a lock back is
taken for one that locks for its caller.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator
from itertools import groupby, islice
from typing import NamedTuple, cast

from jarvis_workers.sec.rules.analysis.facts import is_in_file
from jarvis_workers.sec.rules.analysis.function_exits import Way, head_of, held_from, ways_out
from jarvis_workers.sec.rules.analysis.mentions import uses
from jarvis_workers.sec.rules.rule import REACH, Rule, Site
from jarvis_workers.source.calls import arguments
from jarvis_workers.source.functions import Function
from jarvis_workers.source.lazy_regex import lazy

__all__ = ["RULES"]

CONFIDENCE = 0.7
TWICE, TWICE_PERHAPS, OTHER_ORDER, MEMBERS, NEVER = 0.1, 0.0, 0.0, -0.1, -0.15
KEPT, KEPT_ON_ERROR, OF_A_PROGRAM, SPOKEN_OF = 0.0, 0.05, 0.05, -0.2
SPACE = 32
CALLS_MAX, UNLOCKS_MAX, FUNCTIONS_MAX = 128, 4_096, 2_000
PAIRED_MAX, WAYS_MAX, MENTIONS_MAX = 12, 8, 16
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
# Each alternative begins with a literal byte: the search for the next one then runs at full speed.
LOCK = lazy(
    b"|".join(
        rb"%b(?<=\b%b)(?:%b)\s*\(" % (first, first, b"|".join(name[1:] for name in names))
        for first, names in groupby(sorted(EXCLUSIVE), lambda name: name[:1])
    )
    + rb"|\.lock ?\(\)|->lock ?\(\)"
)
# Finds all that LOCK does and more, at several times the speed.
LIKE_A_LOCK = lazy(rb"lock(?<!unlock)(?!_unlock)\w*+\s*+\(|Lock\w*+\s*+\(|EnterCritical|down_write")
UNLOCK = lazy(
    rb"(?:unlock|Unlock|UnLock|UNLOCK|up_read|up_write|LeaveCriticalSection|ReleaseSRWLock|unset_lock|downgrade_write)"
    rb"\w*+\s*+\("
)
SPEAKS_OF_LOCKS = lazy(rb"lock|LOCK|Lock|mutex|mtx|acquire|release|begin|start|enter|hold|get_|_get|grab|take")
OF_A_LOCK = lazy(rb"lock|LOCK|Lock|mutex|mtx|held|releas")
ANNOTATED = lazy(rb"__acquires|__releases|__must_hold|ACQUIRE|RELEASE|REQUIRES|THREAD_SAFETY", re.IGNORECASE)
RECURSIVE = lazy(rb"RECURSIVE|recursive_mutex|recursive")
RAII = lazy(rb"\b(?:unique_lock|lock_guard|scoped_lock|shared_lock|weak_ptr|shared_ptr)\b")
OBJECT = lazy(rb"([A-Za-z_][\w.:]*+(?>(?:->|\[[^][;]{0,32}\])[\w.]*+)*+)\Z")
GLOBAL = lazy(rb"[A-Za-z_]\w*+\Z")
MEMBER = lazy(rb"[A-Za-z_]\w*+(?:->|\.)[\w.]++\Z")
LOOPS = lazy(rb"\b(?:for|while|do|\w*for_each\w*)\b")
ENDLESS = lazy(rb"\}\s*+while\s*+\(\s*+(?:1|true)\s*+\)\s*+;")
OF_PROGRAMS = lazy(rb"\Z|pthread|mtx|g_mutex|uv_|SDL|Enter|Acquire")
COMMENT_ON_LOCKS = lazy(rb"[Ll]ock|mutex|\bheld\b|releas|drop")
LENDS = lazy(rb"(?:[Cc]ond\w*|[Ww]ait\w*|assert\w*|init\w*|is_\w+|\w*_held)\s*\(\Z")
LAST_WORD = lazy(rb"\w++\s*+\(\Z")
CONDITIONAL = lazy(rb"\b(?:if|else|case|default)\b")
WORD = lazy(rb"\w+")
SPACED = lazy(rb" (\w++)")
FAILS = lazy(rb"\s*+\)?\s*+(?:!=|<|\)|\|\|)")
ERROR_VALUE = lazy(rb"return\s*\(*\s*(?:-|NULL|nullptr|false|FALSE|\w*ERR|\w*FAIL|err\b|ret\b|rc\b|error)")


class _Taken(NamedTuple):
    """A call that takes or gives back a lock."""

    at: int
    key: bytes
    end: int
    takes: bool


def check_lock(site: Site) -> float | None:
    """Say the worst of what is wrong with a lock, as far as one function and one file can tell."""
    function = site.function
    taken = _taken_at(site)
    if function is None or taken is None:
        return None
    said = [_inverted(site, taken, function)]
    start = _held_from(site, taken)
    if start is not None:
        said.append(_followed(site, taken, function, start))
    return max((moved for moved in said if moved is not None), default=None)


def _taken_at(site: Site) -> _Taken | None:
    text = site.source.text
    if site.name:
        given = site.arguments
        if given.end is None or len(given.spans) not in (0, 1, 2):
            return None
        key = b"rcu" if site.name == b"rcu_read_lock" else _key(site.masked(0))
        return _Taken(site.start, key, given.end, takes=True) if key else None
    found = OBJECT.search(text, max(0, site.start - 96), site.start)
    end = text.find(b")", site.start) + 1
    if found is None or not _is_statement(text, found.start(), end) or RAII.search(site.before(2_000)):
        return None
    return _Taken(found.start(), found[1], end, takes=True)


def _is_statement(text: bytes, start: int, end: int) -> bool:
    """Tell `mutex.lock();` from `if (auto p = weak.lock())`."""
    return not text[head_of(text, start) : start].strip() and text[end : end + 8].lstrip()[:1] == b";"


def _key(argument: bytes) -> bytes:
    return b"".join(argument.split()).strip(b"&()")


def _held_from(site: Site, taken: _Taken) -> int | None:
    """Return from where on the lock is held for sure."""
    text = site.source.text
    if not site.name:
        return taken.end
    head = text[head_of(text, site.start) : site.start]
    inside = head.count(b"(") > head.count(b")")
    if b"if" in WORD.findall(head) and not inside:
        return None
    negated = head.rstrip().endswith(b"!")
    return held_from(text, site.start, taken.end, fails=not negated and FAILS.match(text, taken.end) is not None)


def _followed(site: Site, taken: _Taken, function: Function, start: int) -> float | None:
    text, end = site.source.text, min(function.body[1], start + REACH)
    known_calls = _calls(site, function)
    calls = known_calls.between(start, end)
    releases = [
        call.at
        for call in calls
        if not call.takes and (call.key == taken.key or known_calls.first_takes.get(call.key, end) >= end)
    ]
    again = [] if site.name in SHARED else [call.at for call in calls if call.takes and call.key == taken.key][:1]
    known = any(not call.takes and call.key == taken.key for call in calls)
    if not known and not again:
        return _never(site, taken, function)
    if ANNOTATED.search(text, function.parameters[1], function.body[0]):
        return None
    if next(ways_out(text, (start, end), releases, again), None) is None:
        return None
    releases += _handed_on(text, taken, (start, end))
    ways = islice(ways_out(text, (start, end), releases, again), WAYS_MAX)
    said = (_weight(site, taken, way, function, known=known) for way in ways)
    return max((moved for moved in said if moved is not None), default=None)


def _handed_on(text: bytes, taken: _Taken, part: tuple[int, int]) -> list[int]:
    """Return where the lock is an argument of a call that may give it back; waiting for a condition is none."""
    found = islice(uses(text, taken.key, *part), MENTIONS_MAX)
    passed = (use for use in found if use.kind in ("address", "argument"))
    calls = [(use.at, text.rfind(b"(", max(0, use.at - 96), use.at)) for use in passed]
    return [at for at, call in calls if not _is_lock_call(text, call)]


def _is_lock_call(text: bytes, opened: int) -> bool:
    callee = LAST_WORD.search(text, max(0, opened - 48), opened + 1)
    return callee is None or any(known.search(callee[0]) for known in (LENDS, UNLOCK, LOCK))


def _weight(site: Site, taken: _Taken, way: Way, function: Function, *, known: bool) -> float | None:
    text = site.source.text
    if way.kind == "again":
        return None if _is_another(site, taken, way) else TWICE if len(way.conditions) == 1 else TWICE_PERHAPS
    if way.kind not in ("return", "goto") or not known or _is_spared(site, taken, way, function):
        return None
    moved = KEPT_ON_ERROR if ERROR_VALUE.match(text, *way.statement) else KEPT
    if _is_spoken_of(site, max(0, function.start - 600), function.start) or _is_spoken_of(site, way.at - 400, way.at):
        moved += SPOKEN_OF
    return moved + (OF_A_PROGRAM if OF_PROGRAMS.match(site.name) else 0.0)


def _is_spoken_of(site: Site, start: int, end: int) -> bool:
    """Tell whether a comment, which may say that the lock stays or somebody else gives it back, speaks of locks."""
    text, content = site.source.text[max(0, start) : end], site.source.content[max(0, start) : end]
    said = bytes(byte if blank == SPACE else SPACE for byte, blank in zip(content, text, strict=True))
    return COMMENT_ON_LOCKS.search(said) is not None


def _is_another(site: Site, taken: _Taken, way: Way) -> bool:
    """Tell whether the second lock is another one by the same name, or may be taken twice."""
    text = site.source.text
    heads = [text[slice(*head)] for head in way.conditions]
    if is_in_file(site, RECURSIVE) or any(LOOPS.search(head) or _names_lock(head) for head in heads):
        return True
    return any(
        use.kind in ("assignment", "declaration") or text[use.at + len(name) :][:2] in (b"++", b"--")
        for name in WORD.findall(taken.key)
        for use in uses(text, name, taken.end, way.at)
    )


def _names_lock(code: bytes) -> bool:
    return OF_A_LOCK.search(code) is not None


def _is_spared(site: Site, taken: _Taken, way: Way, function: Function) -> bool:
    """Tell whether the lock is not held on this way, is meant to stay so, or is given back behind the jump."""
    text = site.source.text
    if SPEAKS_OF_LOCKS.search(function.name) or UNLOCK.search(text, *way.statement):
        return True
    result = site.result.target if site.name else b""
    if any(_names_lock(text[slice(*head)]) or (result and result in text[slice(*head)]) for head in way.conditions):
        return True
    if ENDLESS.search(text, taken.end, way.at) and b"break" not in text[taken.end : way.at]:
        return True
    if way.kind == "return":
        return not any(CONDITIONAL.search(text, *head) for head in way.conditions)
    label = text.find(b"%b:" % way.label, way.at, function.body[1])
    rest = text[label : function.body[1]]
    return label < 0 or b"goto" in rest or UNLOCK.search(rest) is not None or _names_lock(rest)


def _never(site: Site, taken: _Taken, function: Function) -> float | None:
    """A lock of the file's own that is given back nowhere in the file."""
    text = site.source.text
    if not GLOBAL.match(taken.key) or SPEAKS_OF_LOCKS.search(function.name):
        return None
    if taken.key in _given_back(site):
        return None
    declared = _first_places(site).get(taken.key, 0)
    line = text.rfind(b"\n", 0, declared) + 1
    return NEVER if declared and text.startswith(b"static ", line) else None


def _first_places(site: Site) -> dict[bytes, int]:
    """Return where each word of the file stands first, behind a space; worked out once."""
    known = site.source.remembered.get("first places")
    if known is None:
        known = site.source.remembered["first places"] = _places(site.source.text)
    return cast("dict[bytes, int]", known)


def _places(text: bytes) -> dict[bytes, int]:
    places: dict[bytes, int] = {}
    for word in SPACED.finditer(text):
        places.setdefault(word[1], word.start())
    return places


def _given_back(site: Site) -> frozenset[bytes]:
    """Return all that is given back somewhere in the file; worked out once."""
    known = site.source.remembered.get("unlocked")
    if known is None:
        text = site.source.text
        known = site.source.remembered["unlocked"] = frozenset(call.key for call in _unlocks(text, 0, len(text)))
    assert isinstance(known, frozenset)
    return known


class _Calls:
    """The calls of a function that take or give back a lock, in order, and where each lock is first taken."""

    def __init__(self, text: bytes, function: Function) -> None:
        self.all = sorted([*_locks(text, *function.body), *_unlocks(text, *function.body)])
        self.first_takes = {call.key: call.at for call in reversed(self.all) if call.takes}
        self._places = [call.at for call in self.all]

    def between(self, start: int, end: int) -> list[_Taken]:
        return self.all[bisect_left(self._places, start) : bisect_left(self._places, end)]


def _calls(site: Site, function: Function) -> _Calls:
    """Look once a function."""
    known = site.source.remembered.get(f"locks {function.body}")
    if known is None:
        known = site.source.remembered[f"locks {function.body}"] = _Calls(site.source.text, function)
    assert isinstance(known, _Calls)
    return known


def _locks(text: bytes, start: int, end: int) -> Iterator[_Taken]:
    for match in islice(LOCK.finditer(text, start, end), CALLS_MAX):
        if match[0].endswith(b"()"):
            found = OBJECT.search(text, max(start, match.start() - 96), match.start())
            key, at = (found[1], found.start()) if found else (b"", match.start())
        else:
            key, at = _first_argument(text, match.end() - 1), match.start()
        if key:
            yield _Taken(at, key, match.end(), takes=True)


def _unlocks(text: bytes, start: int, end: int) -> Iterator[_Taken]:
    for match in islice(UNLOCK.finditer(text, start, end), UNLOCKS_MAX):
        key = _first_argument(text, match.end() - 1)
        if b"rcu" in text[match.start() - 9 : match.start()]:
            key = b"rcu"
        elif not key:
            found = OBJECT.search(text, max(start, match.start() - 98), max(start, match.start() - 1))
            arrow = OBJECT.search(text, max(start, match.start() - 98), max(start, match.start() - 2))
            key = found[1] if found else arrow[1] if arrow else b""
        yield _Taken(match.start(), key, match.end(), takes=False)


def _first_argument(text: bytes, at: int) -> bytes:
    spans = arguments(text, at).spans
    return _key(text[slice(*spans[0])]) if spans else b""


def _inverted(site: Site, taken: _Taken, function: Function) -> float | None:
    """The second lock of a pair that another function of the file takes the other way round."""
    pairs = _pairs(site)
    for first in pairs.held_at.get((taken.key, taken.at), ()):
        if pairs.functions.get((taken.key, first), set()) - {function.name}:
            return OTHER_ORDER if GLOBAL.match(first) and GLOBAL.match(taken.key) else MEMBERS
    return None


class _Pairs:
    """Which locks are held where another is taken, and the functions in which a lock is held when another is taken."""

    def __init__(self) -> None:
        self.held_at: dict[tuple[bytes, int], list[bytes]] = {}
        self.functions: dict[tuple[bytes, bytes], set[bytes]] = {}

    def add(self, held: bytes, key: bytes, name: bytes, at: int) -> None:
        self.held_at.setdefault((key, at), []).append(held)
        self.functions.setdefault((held, key), set()).add(name)


def _pairs(site: Site) -> _Pairs:
    """Look once a file."""
    known = site.source.remembered.get("locks")
    if known is None:
        known = site.source.remembered["locks"] = _Pairs()
        for one in islice(site.source.functions, FUNCTIONS_MAX):
            if _may_take_two(site, one):
                for held, key, at in _pairs_of(site, one):
                    known.add(held, key, one.name, at)
    assert isinstance(known, _Pairs)
    return known


def _may_take_two(site: Site, function: Function) -> bool:
    """Take a quick look at how many locks the function may take: most take none."""
    known = cast("list[int] | None", site.source.remembered.get("lock calls"))
    if known is None:
        known = [match.start() for match in LIKE_A_LOCK.finditer(site.source.text)]
        site.source.remembered["lock calls"] = known
    return bisect_left(known, function.body[1]) - bisect_left(known, function.body[0]) > 1


def _pairs_of(site: Site, function: Function) -> list[tuple[bytes, bytes, int]]:
    """Leave out what a function takes in both orders: it knows what it does."""
    text, end = site.source.text, function.body[1]
    calls = _calls(site, function).all
    takes = [call for call in calls if call.takes and (GLOBAL.match(call.key) or MEMBER.match(call.key))]
    if len({call.key for call in takes}) < 2 or len(takes) > PAIRED_MAX:
        return []
    found: dict[tuple[bytes, bytes], int] = {}
    for call in takes:
        others = {other.at: other.key for other in takes if other.key != call.key}
        releases = [other.at for other in calls if other.key == call.key and not other.takes]
        for way in ways_out(text, (call.end, min(end, call.end + REACH)), releases, list(others)):
            if way.kind == "again":
                found.setdefault((call.key, others[way.at]), way.at)
    return [(held, key, at) for (held, key), at in found.items() if (key, held) not in found]


RULES: tuple[Rule, ...] = (
    Rule(
        "deadlock_patterns",
        language="c/cpp",
        category="concurrency",
        cwe=833,
        confidence=CONFIDENCE,
        check=check_lock,
        calls=tuple(name.decode() for name in (*EXCLUSIVE, *SHARED)),
        shapes=(r"(?:\.|->)lock ?\(\)",),
        title="Possible deadlock: lock not released",
        description=(
            "The lock is acquired twice, is still held on an exit path, or is acquired in a different order elsewhere."
        ),
        suggestion=(
            "Release it on every exit path (a single cleanup label, or a guard), and acquire locks in one order."
        ),
        verification="The path is reachable, the lock is not recursive, and no other code releases it.",
        bad="pthread_mutex_lock(&lock);\nif (n < 0)\n    return -1;\npthread_mutex_unlock(&lock);",
        good="pthread_mutex_lock(&lock);\nif (n < 0) {\n    pthread_mutex_unlock(&lock);\n    return -1;\n}",
    ),
)
