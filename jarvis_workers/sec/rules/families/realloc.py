"""realloc_assign_back: the result of realloc overwrites the only pointer to the old block."""

import re

from jarvis_workers.sec.rules.analysis.declarations import NAME, Scope, bare
from jarvis_workers.sec.rules.analysis.facts import target_at
from jarvis_workers.sec.rules.rule import Rule, Site, SourceText, rule
from jarvis_workers.source.lazy_regex import lazy

REACH = 320
STATEMENT_EDGE = lazy(rb"[;{}=]")
CASTS = lazy(rb"\s*(?>\([\w\s*:]{1,80}\)\s*|(?:static|reinterpret)_cast<[^<>]{1,80}>\s*\(\s*)*+(?:std\s*)?(?:::\s*)?\Z")
CAST = lazy(rb"\([\w\s*]{1,80}\)(?=[\w(*])")
NAME_AT_START, NAME_AT_END = lazy(rb"\w+"), lazy(rb"(\w+)\s*\Z")
GIVES_UP = lazy(
    rb"\b(?:[a-z]+_)?(?:abort|_?exit|die|fatal|panic|oom|out_of_memory|err|errx|nomem|assert|serverAssert|BUG)\w*\s*\("
    rb"|\b(?:ALLEGE|REQUIRE|CHECK|ENSURE|VERIFY)\w*\s*\(",
    re.IGNORECASE,
)
NEXT, LATER = 160, 400
CALLED = lazy(rb"\b([A-Za-z_]\w*+)\s*+\(")
EXITS = lazy(rb"\b(?:_?exit|_Exit|abort)\s*+\([^;]{0,64};\s*+\}*+\s*+\}*+\Z")
MADE = lazy(rb"(?:\w*(?:alloc|dup|new)\w*\s*\(|new\b|NULL\b|nullptr\b|0\Z)", re.IGNORECASE)
IS_TESTED = lazy(rb"[^;]*;\s*+if\s*+\((?:[^()]*==\s*+(?:NULL|nullptr|0)|\s*+![^()]*)\s*+\)\s*+\{[^{}]*")


def check_realloc(site: Site) -> float | None:
    """Report nothing if the pointer was saved, the caller still has it, or the program exits on failed allocations."""
    target = _target(site)
    pointer = b"".join(CAST.sub(b"", site.masked(0)).split())
    if not pointer or not b"".join(target.split()).endswith(pointer) or _is_longer(target, pointer):
        return None
    if _was_saved(site, pointer) or _gives_up(site):
        return None
    return None if NAME.match(pointer) and _is_saved_elsewhere(site, pointer) else 0.0


def _is_saved_elsewhere(site: Site, pointer: bytes) -> bool:
    """Return whether the caller passed the pointer by value, or the location that it was read from still holds it."""
    scope = Scope(site)
    values = [value.text for value in scope.values(pointer, target_at(site))]
    if any(MADE.match(bare(value)) for value in values):
        return False
    return scope.is_parameter(pointer) or (bool(values) and all(values))


def _gives_up(site: Site) -> bool:
    """Return whether the program exits on failed allocations, after at most a short message."""
    tested = IS_TESTED.match(site.after(LATER))
    handled = tested[0] if tested else site.after(NEXT).partition(b"\n}")[0]
    return GIVES_UP.search(handled) is not None or _calls_exiting(site, handled)


def _calls_exiting(site: Site, handled: bytes) -> bool:
    """Return whether a function of this file that ends the program is called when, or to see whether, realloc fails."""
    called = {one[1] for one in CALLED.finditer(handled)}
    return bool(called) and not called.isdisjoint(site.source.once("exiting functions", lambda: _exiting(site.source)))


def _exiting(source: SourceText) -> frozenset[bytes]:
    return frozenset(one.name for one in source.functions if EXITS.search(source.text, *one.body))


def _was_saved(site: Site, pointer: bytes) -> bool:
    """Return whether the old pointer was copied to another variable shortly before."""
    before = b"".join(site.before(REACH).split())
    return re.search(rb"\w=(?:\([\w*]{1,40}\))?" + re.escape(pointer) + rb";", before) is not None


def _target(site: Site) -> bytes:
    """Return the text before the `=` that assigns the result, from the start of its statement."""
    window = site.source.text[max(0, site.start - REACH) : site.start]
    left, equals, right = window.rpartition(b"=")
    if not equals or left[-1:] in b"=!<>+-*/|&^%" or not CASTS.match(right):
        return b""
    return STATEMENT_EDGE.split(left)[-1]


def _is_longer(target: bytes, pointer: bytes) -> bool:
    """Return whether the pointer is only a suffix of the target: `a.p` or `*p` for `p`, `heap` for `ap`."""
    before = b"".join(target.split())[: -len(pointer)]
    if before[-1:] in (b".", b">", b"*", b"&", b"]"):
        return True
    name = NAME_AT_START.match(pointer)
    last = NAME_AT_END.search(target)
    return name is not None and last is not None and name[0] == pointer and last[1] != pointer


RULES: tuple[Rule, ...] = (
    rule(
        "realloc_assign_back",
        check_realloc,
        calls=("realloc", "reallocarray", "krealloc", "krealloc_array", "kvrealloc"),
    ),
)
