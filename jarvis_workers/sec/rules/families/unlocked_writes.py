"""unlocked_access: a static variable that most functions of a file write under one mutex, and one function without it.

The lock set of each write is compared with those of the others (Savage et al., "Eraser", 1997), within one file.  A
function that might run under the mutex, or before there are threads, is not reported.
"""

import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from jarvis_workers.sec.rules.analysis.examined import is_examined
from jarvis_workers.sec.rules.analysis.lock_order import LockCall, lock_calls, lock_key
from jarvis_workers.sec.rules.rule import Rule, Site, rule
from jarvis_workers.source.functions import Function
from jarvis_workers.source.lazy_regex import lazy

MENTIONS_MAX, STEPS_MAX, CALLERS_MAX = 48, 128, 24
COMMENT, LEFT, LEAST_WRITERS, BARE_MAX = 400, 96, 2, 4
OF_MANY, OF_TWO, MANY = 0.1, 0.0, 3
# The first one is in pthread_mutex_lock and mtx_lock.
LOCKING = (b"x_lock", b"spin_lock", b"_wrlock", b"EnterCritical")
STATIC = lazy(
    rb"\nstatic[ \t]+(?![^;={]{0,200}(?:\bconst\b(?!\s*\w+\s*\*)|atomic|Atomic|thread|volatile|mutex|lock|cond_t|\())"
    rb"(?:\w+[ \t]+){0,6}?\w+[ \t*]+(\w+[^;(){}]{0,400})[;{]|\n\}[ \t]*(\w+)[ \t]*[;=]"
)
PART = rb"(?:\s*(?:\.\s*\w+|\[[^][;{}]{0,120}\])){0,6}"
ASSIGNS = rb"(?P<assigns>\s*(?:[-+*/|&^]?=(?!=)|<<=|>>=|\+\+|--))?"
WORD = lazy(rb"(?<![\w.])[A-Za-z_]\w*+")
MENTIONED = re.compile(rb"\w++" + PART + ASSIGNS)
NO_START = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.>")
# A wrapper of a project around the function that locks.
WRAPPED = lazy(rb"\b\w+_(?:mutex|spin|rwlock_wr)_?lock\s*\(")
NAME, LAST_NAME = lazy(rb"[A-Za-z_]\w*"), lazy(rb"([A-Za-z_]\w*)\s*(?:\[[^][]*\]\s*)*\Z")
VARIABLE = lazy(rb"[A-Za-z_]\w*(?:\s*(?:\.\s*\w+|\[[^][]*\]))*")
ELEMENT = lazy(rb"\[[^][]*\]|\s")
OWN = rb"static[^;{}()=]*\b%b\b|DEFINE_\w+\s*\(\s*%b\b|\n\}\s*%b\s*[;=]"
LOCAL = rb"\n[ \t]+(?!return\b|else\b|goto\b)(?:\w+[ \t]+){1,4}[*]*%b\s*[;=,\[]"
LOCK_NAME = lazy(rb"[A-Za-z_][\w.]*\Z")
SETS_UP = lazy(
    rb"(?i)^main$|init|start|setup|set_up|creat|destr|fini|exit|shut|clean|term|reset|tear|fork|atfork|test|load|config|option"
    rb"|param|parse|register|attach|probe|open|new|stop|quit|done|dump|debug|signal"
)
BEGINS = lazy(
    rb"(?:mutex|mtx|rwlock|spin|spin_lock|Mutex|CriticalSection)_?\w*(?:[iI]nit|[dD]estroy|_free|Delete)\w*\s*\("
    rb"|(?:pthread|thrd|kthread|thread)_?(?:create|run|new|join)\w*\s*\(|CreateThread|\bfork\s*\(|_exit\s*\(|\bexit\s*\("
)
LOCKISH = lazy(
    rb"(?i)(?<![bc])lock|mutex|atomic|critical|synchroni|\bonce\b|_once\b|guard|barrier|single_?thread|main_?thread"
)
SPEAKS = lazy(rb"(?i)\b(?:un)?lock(?:s|ed|ing|less)?\b|mutex|\bheld\b|\bthreads?\b|\braces?\b|atomic")
LEAVES = lazy(rb"\b(?:return|goto|break|continue|exit|abort)\b")


class _Write(NamedTuple):
    """A write of a static variable, and the mutexes that are held there."""

    name: bytes
    at: int
    function: Function
    locks: frozenset[bytes]


def find_writes(raw: bytes) -> Iterator[int]:
    """Yield the writes of static variables in a file that locks a mutex."""
    return (match.start() for match in _written(raw)) if any(word in raw for word in LOCKING) else iter(())


def check_unlocked(site: Site) -> float | None:
    """Report the first write without the mutex in each function that has such writes."""
    found: dict[int, float] = site.source.once("unlocked writes", lambda: _unlocked(site))
    return found.get(site.start)


def _written(text: bytes) -> Iterator[re.Match[bytes]]:
    """Yield the writes of the static variables of a file, in order."""
    lists = ((match[1] or match[2]).split(b",") for match in STATIC.finditer(text))
    names = {name[1] for parts in lists for part in parts if (name := LAST_NAME.search(part.partition(b"=")[0]))}
    for word in WORD.finditer(text) if names else ():
        start = word.start()
        match = MENTIONED.match(text, start) if word[0] in names and text[start - 1] not in NO_START else None
        if match is None:
            continue
        moved = text[max(0, start - 8) : start].rstrip().endswith((b"++", b"--"))
        if match["assigns"] or (moved and not text.startswith(b"->", match.end())):
            yield match


def _unlocked(site: Site) -> dict[int, float]:
    """Return the reported writes of a file with their adjustments."""
    found: dict[int, float] = {}
    if site.source.test:
        return found
    writes: dict[bytes, list[_Write]] = {}
    for one in _writes(site):
        writes.setdefault(one.name, []).append(one)
    for group in writes.values():
        found.update(_of_variable(site, group))
    return found


def _writes(site: Site) -> Iterator[_Write]:
    text, source = site.source.text, site.source
    for match in _written(text):
        name, variable = NAME.match(match[0]), VARIABLE.match(match[0])
        function = source.functions.at(match.start())
        if name is None or variable is None or function is None or _is_shadowed(site, function, name[0]):
            continue
        if not is_examined(site, "unlocked_access"):
            return
        part = ELEMENT.sub(lambda one: one[0][:1].strip(), variable[0])
        yield _Write(part, match.start(), function, _locks_at(site, function, match.start()))


def _is_shadowed(site: Site, function: Function, name: bytes) -> bool:
    """Return whether the function has a parameter or variable of its own with this name."""
    shadowed: dict[tuple[int, bytes], bool] = site.source.once("shadowed statics", dict)
    key = (function.start, name)
    if key not in shadowed:
        text = site.source.text
        given = re.search(rb"\b%b\b" % name, text[slice(*function.parameters)])
        shadowed[key] = given is not None or re.search(LOCAL % name, text[slice(*function.body)]) is not None
    return shadowed[key]


def _locks_at(site: Site, function: Function, at: int) -> frozenset[bytes]:
    """Return the mutexes that are held at an offset; a release in a branch that leaves does not count behind it."""
    locks: set[bytes] = set()
    text = site.source.text
    for call in site.source.once(f"lock steps {function.body}", lambda: _lock_steps(site, function)):
        if call.at >= at:
            break
        if call.acquires:
            locks.add(call.key)
            continue
        edge = text.find(b"}", call.end, function.body[1])
        if not (0 <= edge < at and LEAVES.search(text, call.end, edge)):
            locks.discard(call.key)
    return frozenset(key for key in locks if LOCK_NAME.match(key))


def _lock_steps(site: Site, function: Function) -> list[LockCall]:
    """Return the calls that lock or unlock in order, with those of wrappers."""
    steps = {call.at: call for call in lock_calls(site, function).all}
    for match in islice(WRAPPED.finditer(site.source.text, *function.body), STEPS_MAX):
        wrapped = Site(site.source, match[0], match.start(), match.end() - 1)
        steps.setdefault(
            match.start(), LockCall(match.start(), lock_key(wrapped.masked(0)), match.end(), acquires=True)
        )
    return [steps[at] for at in sorted(steps)]


def _of_variable(site: Site, writes: list[_Write]) -> Iterator[tuple[int, float]]:
    """Yield the first write of each function that writes a variable without the mutex of the others."""
    by_function: dict[Function, list[_Write]] = {}
    for write in writes:
        by_function.setdefault(write.function, []).append(write)
    always = (frozenset.intersection(*(write.locks for write in group)) for group in by_function.values())
    counts = Counter(key for keys in always for key in keys)
    if not counts:
        return
    key, locked = counts.most_common(1)[0]
    bare = [one for one, group in by_function.items() if not any(write.locks for write in group)]
    bare = [one for one in bare if not _is_set_up(site, one)]
    if locked < LEAST_WRITERS or len(bare) > min(BARE_MAX, locked // 2):
        return
    for one in bare:
        if _may_race(site, one, key):
            yield by_function[one][0].at, OF_MANY if locked >= MANY else OF_TWO


def _is_set_up(site: Site, function: Function) -> bool:
    """Return whether a function runs before there are threads, or behind them, by its name or its calls."""
    text = site.source.text
    return SETS_UP.search(function.name) is not None or BEGINS.search(text, *function.body) is not None


def _may_race(site: Site, function: Function, key: bytes) -> bool:
    """Return whether a function knows nothing of locks, and is called from others without the mutex."""
    source = site.source
    if LOCKISH.search(function.name) or LOCKISH.search(source.text, *function.body):
        return False
    floor = max(0, function.start - COMMENT)
    above = max(floor, *(source.text.rfind(edge, floor, function.start) for edge in (b"}", b";")))
    if SPEAKS.search(source.content, above, function.body[1]):
        return False
    is_own = re.search(OWN % ((key.partition(b".")[0],) * 3), source.text) is not None
    head = source.text[max(0, function.start - LEFT) : function.start].rpartition(b"\n\n")[2]
    if not is_own and (b"static" not in head or b"." in key):
        return False
    return not _runs_under(site, function, key)


def _runs_under(site: Site, function: Function, key: bytes) -> bool:
    """Return whether a direct or indirect caller may hold the mutex, or all callers only set up or clean up."""
    left, seen = [function], {function}
    while left:
        one = left.pop()
        if not is_examined(site, "unlocked_access") or len(seen) > CALLERS_MAX:
            return True
        if site.source.content.find(one.name, len(site.source.text)) >= 0:
            return True
        callers = _callers(site, one)
        if callers is None or any(LOCKISH.search(caller.name) for caller, _ in callers):
            return True
        if any(key in _locks_at(site, caller, at) for caller, at in callers):
            return True
        others = {caller for caller, _ in callers if not _is_set_up(site, caller)}
        if callers and not others:
            return True
        left += others - seen
        seen |= others
    return False


def _callers(site: Site, function: Function) -> list[tuple[Function, int]] | None:
    """Return the functions that call a function or pass it on, with the place; None if it is mentioned too often."""
    text, found = site.source.text, list[tuple[Function, int]]()
    for number, match in enumerate(re.finditer(re.escape(function.name) + rb"\b", text)):
        if number == MENTIONS_MAX:
            return None
        caller = site.source.functions.at(match.start())
        if caller is not None and caller != function and text[match.start() - 1] not in NO_START:
            found.append((caller, match.start()))
    return found


RULES: tuple[Rule, ...] = (rule("unlocked_access", check_unlocked, places=find_writes),)
