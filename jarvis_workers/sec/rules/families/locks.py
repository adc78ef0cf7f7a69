"""deadlock_patterns: a lock acquired twice, held at an exit, or acquired in a different order elsewhere in the file.

A function that never releases a lock is assumed to lock for its caller.
"""

import re
from itertools import islice

from jarvis_workers.sec.rules.analysis.facts import is_in_file
from jarvis_workers.sec.rules.analysis.function_exits import Way, acquisition_end, head_of, ways_out
from jarvis_workers.sec.rules.analysis.lock_order import (
    EXCLUSIVE,
    GLOBAL,
    LOCK,
    OBJECT,
    SHARED,
    UNLOCK,
    LockCall,
    inverted_lock,
    lock_calls,
    lock_key,
    released_locks,
)
from jarvis_workers.sec.rules.analysis.mentions import uses
from jarvis_workers.sec.rules.rule import REACH, Rule, Site, rule
from jarvis_workers.source.functions import Function
from jarvis_workers.source.lazy_regex import lazy

TWICE, TWICE_PERHAPS, OTHER_ORDER, MEMBERS, NEVER = 0.1, 0.0, 0.0, -0.1, -0.15
LOCKED, LOCKED_ON_ERROR, OF_A_PROGRAM, COMMENTED_ON = 0.0, 0.05, 0.05, -0.2
SPACE = 32
WAYS_MAX, MENTIONS_MAX = 8, 16
SPEAKS_OF_LOCKS = lazy(rb"lock|LOCK|Lock|mutex|mtx|acquire|release|begin|start|enter|hold|get_|_get|grab|take")
OF_A_LOCK = lazy(rb"lock|LOCK|Lock|mutex|mtx|held|releas")
ANNOTATED = lazy(rb"__acquires|__releases|__must_hold|ACQUIRE|RELEASE|REQUIRES|THREAD_SAFETY", re.IGNORECASE)
RECURSIVE = lazy(rb"RECURSIVE|recursive_mutex|recursive")
RAII = lazy(rb"\b(?:unique_lock|lock_guard|scoped_lock|shared_lock|weak_ptr|shared_ptr)\b")
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


def check_lock(site: Site) -> float | None:
    """Return the highest confidence adjustment among the lock defects found in the function and its file."""
    function = site.function
    call = _call_at(site)
    if function is None or call is None:
        return None
    deltas = [_in_other_order(site, call, function)]
    start = _acquired_from(site, call)
    if start is not None:
        deltas.append(_followed(site, call, function, start))
    return max((delta for delta in deltas if delta is not None), default=None)


def _in_other_order(site: Site, call: LockCall, function: Function) -> float | None:
    first = inverted_lock(site, call, function)
    if first is None:
        return None
    return OTHER_ORDER if GLOBAL.match(first) and GLOBAL.match(call.key) else MEMBERS


def _call_at(site: Site) -> LockCall | None:
    text = site.source.text
    if site.name:
        arguments = site.arguments
        if arguments.end is None or len(arguments.spans) not in (0, 1, 2):
            return None
        key = b"rcu" if site.name == b"rcu_read_lock" else lock_key(site.masked(0))
        return LockCall(site.start, key, arguments.end, acquires=True) if key else None
    match = OBJECT.search(text, max(0, site.start - 96), site.start)
    end = text.find(b")", site.start) + 1
    if match is None or not _is_statement(text, match.start(), end) or RAII.search(site.before(2_000)):
        return None
    return LockCall(match.start(), match[1], end, acquires=True)


def _is_statement(text: bytes, start: int, end: int) -> bool:
    """Return whether a call is a whole statement, such as `mutex.lock();`, not `if (auto p = weak.lock())`."""
    return not text[head_of(text, start) : start].strip() and text[end : end + 8].lstrip()[:1] == b";"


def _acquired_from(site: Site, call: LockCall) -> int | None:
    """Return the offset from which the lock is certainly held, or None if that is unclear."""
    text = site.source.text
    if not site.name:
        return call.end
    head = text[head_of(text, site.start) : site.start]
    inside = head.count(b"(") > head.count(b")")
    if b"if" in WORD.findall(head) and not inside:
        return None
    negated = head.rstrip().endswith(b"!")
    return acquisition_end(text, site.start, call.end, fails=not negated and FAILS.match(text, call.end) is not None)


def _followed(site: Site, call: LockCall, function: Function, start: int) -> float | None:
    text, end = site.source.text, min(function.body[1], start + REACH)
    calls = lock_calls(site, function)
    later = calls.between(start, end)
    same = [other for other in later if other.key == call.key]
    releases = [
        other.at
        for other in later
        if not other.acquires and (other.key == call.key or calls.first_acquired.get(other.key, end) >= end)
    ]
    again = [] if site.name in SHARED else [other.at for other in same if other.acquires][:1]
    is_released = not all(other.acquires for other in same)
    if not is_released and not again:
        return _never(site, call, function)
    if ANNOTATED.search(text, function.parameters[1], function.body[0]):
        return None
    if next(ways_out(text, (start, end), releases, again), None) is None:
        return None
    releases += _handed_on(text, call, (start, end))
    ways = islice(ways_out(text, (start, end), releases, again), WAYS_MAX)
    deltas = (_weight(site, call, way, function, is_released=is_released) for way in ways)
    return max((delta for delta in deltas if delta is not None), default=None)


def _handed_on(text: bytes, call: LockCall, part: tuple[int, int]) -> list[int]:
    """Return the offsets at which the lock is passed to a call that may release it; a condition wait does not."""
    mentions = islice(uses(text, call.key, *part), MENTIONS_MAX)
    passed = (use for use in mentions if use.kind in ("address", "argument"))
    calls = [(use.at, text.rfind(b"(", max(0, use.at - 96), use.at)) for use in passed]
    return [at for at, opened in calls if not _is_lock_call(text, opened)]


def _is_lock_call(text: bytes, opened: int) -> bool:
    callee = LAST_WORD.search(text, max(0, opened - 48), opened + 1)
    return callee is None or any(names.search(callee[0]) for names in (LENDS, UNLOCK, LOCK))


def _weight(site: Site, call: LockCall, way: Way, function: Function, *, is_released: bool) -> float | None:
    text = site.source.text
    if way.kind == "again":
        return None if _is_another(site, call, way) else TWICE if len(way.conditions) == 1 else TWICE_PERHAPS
    if way.kind not in ("return", "goto") or not is_released or _is_spared(site, call, way, function):
        return None
    moved = LOCKED_ON_ERROR if ERROR_VALUE.match(text, *way.statement) else LOCKED
    if _is_commented_on(site, max(0, function.start - 600), function.start) or _is_commented_on(
        site, way.at - 400, way.at
    ):
        moved += COMMENTED_ON
    return moved + (OF_A_PROGRAM if OF_PROGRAMS.match(site.name) else 0.0)


def _is_commented_on(site: Site, start: int, end: int) -> bool:
    """Return whether a comment mentions locks; it may state that the lock stays held, or which code releases it."""
    text, content = site.source.text[max(0, start) : end], site.source.content[max(0, start) : end]
    comments = bytes(byte if blank == SPACE else SPACE for byte, blank in zip(content, text, strict=True))
    return COMMENT_ON_LOCKS.search(comments) is not None


def _is_another(site: Site, call: LockCall, way: Way) -> bool:
    """Return whether the second lock may be another lock of the same name, or may be acquired recursively."""
    text = site.source.text
    heads = [text[slice(*head)] for head in way.conditions]
    if is_in_file(site, RECURSIVE) or any(LOOPS.search(head) or _names_lock(head) for head in heads):
        return True
    return any(
        use.kind in ("assignment", "declaration") or text[use.at + len(name) :][:2] in (b"++", b"--")
        for name in WORD.findall(call.key)
        for use in uses(text, name, call.end, way.at)
    )


def _names_lock(code: bytes) -> bool:
    return OF_A_LOCK.search(code) is not None


def _is_spared(site: Site, call: LockCall, way: Way, function: Function) -> bool:
    """Return whether the lock is not held at this exit, is held on purpose, or is released after the jump."""
    text = site.source.text
    if SPEAKS_OF_LOCKS.search(function.name) or UNLOCK.search(text, *way.statement):
        return True
    result = site.result.target if site.name else b""
    if any(_names_lock(text[slice(*head)]) or (result and result in text[slice(*head)]) for head in way.conditions):
        return True
    if ENDLESS.search(text, call.end, way.at) and b"break" not in text[call.end : way.at]:
        return True
    if way.kind == "return":
        return not any(CONDITIONAL.search(text, *head) for head in way.conditions)
    label = text.find(b"%b:" % way.label, way.at, function.body[1])
    rest = text[label : function.body[1]]
    return label < 0 or b"goto" in rest or UNLOCK.search(rest) is not None or _names_lock(rest)


def _never(site: Site, call: LockCall, function: Function) -> float | None:
    """Check for a static lock that the file never releases."""
    text = site.source.text
    if not GLOBAL.match(call.key) or SPEAKS_OF_LOCKS.search(function.name):
        return None
    if call.key in released_locks(site):
        return None
    declared = site.source.once("first places", lambda: _first_places(text)).get(call.key, 0)
    line = text.rfind(b"\n", 0, declared) + 1
    return NEVER if declared and text.startswith(b"static ", line) else None


def _first_places(text: bytes) -> dict[bytes, int]:
    """Return the offset of the first occurrence of each word that follows a space."""
    places: dict[bytes, int] = {}
    for word in SPACED.finditer(text):
        places.setdefault(word[1], word.start())
    return places


RULES: tuple[Rule, ...] = (
    rule(
        "deadlock_patterns",
        check_lock,
        calls=tuple(name.decode() for name in (*EXCLUSIVE, *SHARED)),
        shapes=(r"(?:\.|->)lock ?\(\)",),
    ),
)
