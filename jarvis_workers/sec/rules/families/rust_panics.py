"""panic_safety: code of the caller that may panic while unsafe code has left values uninitialized or twice owned.

`ptr::read`, `ptr::copy` and `set_len` break an invariant that a later statement repairs.  A closure, iterator, Clone,
comparison, Drop or Read of the caller that panics in between leaves it broken: destructors then run on such values.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator

from jarvis_workers.sec.rules.analysis.examined import is_examined
from jarvis_workers.sec.rules.analysis.rust_context import is_explained, is_of_tests, is_unsafe_function
from jarvis_workers.sec.rules.rule import Rule, Site, rule
from jarvis_workers.source.calls import arguments
from jarvis_workers.source.functions import Function
from jarvis_workers.source.lazy_regex import lazy

BODY_MAX, TRIES_MAX = 16_384, 16
UNWRITTEN, IN_LOOP, EXPLAINED = 0.1, 0.05, -0.15
CALLED = lazy(rb"\s*+(?:::\s*+<[^;{}]{0,256}?>\s*+)?\(")
OF_POINTERS = lazy(rb"(?:\bptr\s*::\s*|\.\s*)\Z")
METHOD = lazy(rb"\.\s*\Z")
NO_LENGTH = lazy(rb"\s*\(\s*0\s*\)")
# Whoever names one of these has thought of panics: a guard whose Drop repairs, a value that is not dropped at all.
GUARDED = lazy(
    rb"\w*(?:[Gg]uard|[Oo]n_?[Dd]rop|[Bb]omb|Hole|[Rr]estore|[Aa]bort)\w*|\w*panic\w*\b(?!!)|\bManuallyDrop\b|\bdefer!"
    rb"|\bcatch_unwind\b|\bset_len\s*\(\s*0\s*\)|\bMaybeUninit\b|\bmem\s*::\s*(?:take|replace)\s*\(|\blen\s*=\s*0\s*;"
)
REPAIRS = lazy(
    rb"\bptr\s*::\s*(?:write|copy\w*)\s*\(|\.\s*(?:write|set_len|copy_to\w*|copy_from\w*)\s*\(|\bforget\s*\("
)
ROOM = lazy(rb"\bwith_capacity\b|\.\s*reserve\w*\s*\(")
WRITES = lazy(
    rb"\bptr\s*::\s*(?:write|copy)\w*\s*\(|\.\s*(?:write\w*|copy_\w+|extend\w*|push|fill\w*|resize)\s*\(|\]\s*=[^=]"
)
BOUNDED_CALLABLE = lazy(
    rb"\b(\w+)\s*:\s*(?:&\s*(?:mut\s+)?)?(?:impl\s+|dyn\s+)?(?:for\s*<[^<>]*>\s*)?Fn(?:Mut|Once)?\s*\("
)
PARAMETER = lazy(rb"\b(\w+)\s*:\s*(?:&\s*(?:'\w+\s+)?(?:mut\s+)?)?(\w+)\s*(?=[,)])")
BY_TRAIT = (
    (lazy(rb"\bI\w*terator\b"), lazy(rb"\.\s*next\s*\(\s*\)|\bfor\s+[\w(), &]+\s+in\s+\w+\s*\{")),
    (lazy(rb":[^,;{}]*?\bClone\b"), lazy(rb"\.\s*clone\s*\(\s*\)")),
    (lazy(rb":[^,;{}]*?\b(?:Partial)?(?:Ord|Eq)\b"), lazy(rb"\.\s*(?:partial_cmp|cmp|eq|lt|le|gt|ge)\s*\(")),
    (lazy(rb":[^,;{}]*?\bDefault\b"), lazy(rb"\b[A-Z]\w*\s*::\s*default\s*\(\s*\)")),
    (lazy(rb":[^,;{}]*?\bRead\b"), lazy(rb"\.\s*(?:read|read_exact)\s*\(\s*&")),
)
NEW = lazy(rb"\s*::\s*new\s*\(")
COUNTED = lazy(rb"\bself\s*\.\s*(\w+)\s*=(?!=)(?!\s*0\s*;)")
DROPS = rb"\bDrop\s+for\b[^}]*\bself\s*\.\s*%b\b(?s:.{0,400})\b(?:assume_init_drop|drop_in_place)"
FIELD_CALLED = lazy(rb"\(\s*self\s*\.\s*\w+\s*\)\s*\(")
# A method of the value that was read, whose result is written back.
CONVERTED = lazy(rb"\bptr\s*::\s*write\s*\([^;{}]*\bread\s*\([^;{}()]*\)\s*\.\s*[a-z]\w*\s*\(")
DROPPED = lazy(rb"\bdrop_in_place\s*\(")
BRACE = lazy(rb"[{}]")
IMPL = lazy(rb"\bimpl\b[^;{}]{0,768}")
LOOP = lazy(rb"\b(?:for\b[^;{}]*\bin\b|while\b|loop\b)[^;{}]*\Z")


def check_panics(site: Site) -> float | None:
    """Report the first operation of a function after which the caller's code runs before the repair."""
    function = site.function
    if site.name == b"MaybeUninit":
        return (
            IN_LOOP if function is not None and _is_counted_before(site, function) and not is_of_tests(site) else None
        )
    if function is None or not _breaks(site) or is_of_tests(site):
        return None
    tries: dict[int, int] = site.source.once("panic safety", dict)
    tried = tries[function.start] = tries.get(function.start, 0) + 1
    if (
        tried > TRIES_MAX
        or not is_examined(site, "panic_safety")
        or is_unsafe_function(site.source.text, function.start)
    ):
        return None
    moved = _unrepaired(site, function)
    if moved is None:
        return None
    tries[function.start] = TRIES_MAX
    return moved + (EXPLAINED if is_explained(site) else 0.0)


def _is_counted_before(site: Site, function: Function) -> bool:
    """Return whether code of the caller makes an element after a field that Drop reads counted it as written."""
    text = site.source.text
    made = NEW.match(text, site.at, site.at + 32)
    if made is None or not any(_foreign_calls(site, function, made.end(), made.end() + 160)):
        return False
    counted = COUNTED.findall(text, function.body[0], site.start)
    return any(re.search(DROPS % re.escape(name), text) for name in counted)


def _breaks(site: Site) -> bool:
    """Return whether the site is a call that breaks an invariant, rather than a function of the same name."""
    text = site.source.text
    before = text[max(0, site.start - 64) : site.start]
    if not CALLED.match(text, site.at, site.at + 320):
        return False
    if site.name == b"set_len":
        return METHOD.search(before) is not None and not NO_LENGTH.match(text, site.at, site.at + 64)
    return OF_POINTERS.search(before) is not None and (site.name != b"read" or b"ptr" in before[-16:])


def _unrepaired(site: Site, function: Function) -> float | None:
    text = site.source.text
    first, last = function.body[0], min(function.body[1], function.body[0] + BODY_MAX)
    if GUARDED.search(text, first, last):
        return None
    statement = max(text.rfind(edge, first, site.start) for edge in (b";", b"{", b"}")) + 1
    begin = min(statement, _loop_start(text, first, site.start))
    end = _repair_end(site, statement, last)
    if end is None or not any(_foreign_calls(site, function, begin, end)):
        return None
    return UNWRITTEN if site.name == b"set_len" else IN_LOOP if begin < statement else 0.0


def _repair_end(site: Site, statement: int, last: int) -> int | None:
    """Return where the repair ends; of `set_len` on a vector with unwritten room, the end of the function."""
    text = site.source.text
    if site.name == b"set_len":
        function = site.function
        room = list(ROOM.finditer(text, function.body[0], site.start)) if function else []
        return last if room and not WRITES.search(text, room[-1].end(), site.start) else None
    repairs = [match.end() - 1 for match in REPAIRS.finditer(text, statement, last)]
    return arguments(text, repairs[-1]).end if repairs else None


def _loop_start(text: bytes, first: int, at: int) -> int:
    """Return the start of the outermost loop around an offset, or the offset itself."""
    begin, depth = at, 0
    for brace in reversed(list(BRACE.finditer(text, first, at))):
        depth += 1 if brace[0] == b"}" else -1
        if depth < 0:
            depth = 0
            if LOOP.search(text, max(first, brace.start() - 256), brace.start()):
                begin = brace.start()
    return begin


def _foreign_calls(site: Site, function: Function, begin: int, end: int) -> Iterator[int]:
    """Yield the calls of code that the caller of a function chose: closures, and methods of type parameters."""
    text = site.source.text
    head = text[function.start : function.body[0]]
    types = site.source.once("callable types", lambda: frozenset(BOUNDED_CALLABLE.findall(text)))
    names = {name for name, kind in PARAMETER.findall(head) if kind in types} | set(BOUNDED_CALLABLE.findall(head))
    traits = head + _impl_head(site, function)
    patterns = [call for bound, call in BY_TRAIT if bound.search(traits)] + ([FIELD_CALLED] if types else [])
    if b"<" in traits:
        patterns += [CONVERTED] if site.name == b"drop_in_place" else [CONVERTED, DROPPED]
    for pattern in patterns:
        for match in pattern.finditer(text, begin, end):
            yield match.start()
    for name in sorted(names):
        at = text.find(name + b"(", begin, end)
        if at >= 0 and not text[at - 1 : at].isalnum() and text[at - 1 : at] not in b"_.":
            yield at


def _impl_head(site: Site, function: Function) -> bytes:
    """Return the text of the last `impl` before a function, with its type parameters."""
    heads = site.source.once("impl heads", lambda: [(one.start(), one[0]) for one in IMPL.finditer(site.source.text)])
    place = bisect_left(heads, (function.start,))
    return heads[place - 1][1] if place else b""


RULES: tuple[Rule, ...] = (
    rule(
        "panic_safety",
        check_panics,
        words=("read", "set_len", "copy", "copy_nonoverlapping", "drop_in_place", "MaybeUninit"),
    ),
)
