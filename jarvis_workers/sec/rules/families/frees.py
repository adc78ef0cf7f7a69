"""uaf_suspect and double_free_and_free_non_heap: memory that is used or released again after its release."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from jarvis_workers.sec.rules.analysis.declarations import Assigned, Scope
from jarvis_workers.sec.rules.analysis.facts import is_in_file
from jarvis_workers.sec.rules.analysis.forward_paths import branch_has_ended, is_conditional
from jarvis_workers.sec.rules.analysis.mentions import uses
from jarvis_workers.sec.rules.analysis.pointer_uses import (
    MACRO,
    RELEASING,
    Mention,
    follow,
    is_shown,
    plain_pointer,
    released,
    values_before,
)
from jarvis_workers.sec.rules.rule import Rule, Site, rule
from jarvis_workers.source.lazy_regex import lazy

LOOP_REACH, MENTIONS_MAX = 400, 16
GUARD_REACH = 128
REACH, NAMES_MAX = 16_384, 256
NEXT_STEP = lazy(rb"\bfor\s*+\([^;{}]*+;[^;{}]*+;(?P<step>(?>[^;{}()]|\([^;{}()]*+\))*+)\)\s*+(?:\{[^{}]*+|[^;{}]*+)\Z")
EACH = lazy(
    rb"\b(?:h?list|TAILQ|S?LIST|STAILQ|CIRCLEQ)_(?:for_each_entry|FOREACH)\w*+\s*+\([^;{}]*\)\s*+(?:\{[^{}]*+|[^;{}]*+)\Z"
)
SAFE = lazy(rb"safe|SAFE|MUTABLE", re.IGNORECASE)
LEAVES = lazy(rb"[^{}]*?\b(?:break|return|goto)\b")
VALUE_END = lazy(rb"[;{}]")
# Behind a label, the second release may be for other paths only.
GOTO_LABEL = lazy(rb"[;{}]\s*+(?!default\b)[A-Za-z_]\w*+\s*+:(?!:)")
JOINED = 0.2
COUNTS = {"dereference": 1.0, "argument": 0.9, "return": 0.85}
BRACE = lazy(rb"[{}]")
ENDLESS = lazy(rb"\b(?:while\s*+\(\s*+(?:1|true|TRUE)\s*+\)|for\s*+\([^;{}()]*+;\s*+;[^;{}()]*+\))\s*+\Z")
ARITHMETIC = lazy(rb"(?P<name>.*\w)\s*+\+\s*+[\w(]", re.DOTALL)
ADDRESS = lazy(rb"&\s*+[A-Za-z_]\w*+(?P<member>(?>\s*+(?:->|\.)\s*+\w++)*+)(?>(?P<element>\s*+\[[^]]*+\]))?+\s*+\Z")
FIXED = lazy(rb"(?:(?i:_?alloca)|__builtin_alloca|strdupa|strndupa)\s*+\(|&\s*+[A-Za-z_]\w*+\s*+\Z|L?\"")
GIVES = lazy(rb"(?:alloc|dup|new)\w*+\s*+\(|\bnew\b")
REPLACED = lazy(rb"\#[ \t]*+define[ \t]++(?:free|kfree|zfree)\b")
# In the branches of an `#if`, a name may have different declarations.
POINTER = rb"\n[^\n;{}()=]{0,80}\*\s*%b\s*[=;]"
ARRAY = lazy(rb"(?<!\breturn)(?<!\belse)(?<!\bcase)(?<![^\w>])[ \t]++(?>\*+[ \t]*+)?+\Z|,\s*+\**+\Z")
NAME = lazy(rb"[A-Za-z_]\w*+\Z")
STEP_BEHIND, STEP_BEFORE = lazy(rb"\s*+(?:\+\+|\+=)"), lazy(rb"\+\+\s*+\Z")
INEQUALITY_TEST = lazy(
    rb"\bif\s*+\(\s*+(?!(?:NULL|nullptr|0)\b)(\w++)\s*+!=\s*+(?!(?:NULL|nullptr|0)\b)(\w++)\s*+\)\s*+\{?\s*+\Z"
)
# A release at the end of the block.
DEFERRED = lazy(rb"\b(?:_?[Dd]efer|DEFER)\b[\s({]*\Z")
MEMBER = lazy(rb"\s*+(?:->|\.|\[)")
NOTHING = lazy(rb"\(*+(?>\(\s*void\s*\*\s*\)\s*)?+(?:NULL|nullptr|0)\)*+\Z")
CAST = lazy(rb"\(\s*+[A-Za-z_][\w\s]*+[\s*]*+\)\s*+(?=[\w(&\"])")


class _Next(NamedTuple):
    """Confidence adjustments for a use or a second release after a release; None if no such statement follows."""

    use: float | None = None
    release: float | None = None


def check_use(site: Site) -> float | None:
    """Raise the confidence for a use in the same block; lower it for a test in between, or blocks that may not run."""
    name = _subject(site)
    if name is None:
        return None
    return 0.1 if _is_stepped_over(site, name) else _next(site, name).use


def check_release(site: Site) -> float | None:
    """Check for a release of memory that is not from the heap, of an interior pointer, or of freed memory."""
    if site.function is None:
        return None
    odd = _not_from_heap(site, released(site).strip())
    if odd is not None:
        return odd
    name = _subject(site)
    return _next(site, name).release if name else None


def _next(site: Site, name: bytes) -> _Next:
    """Return the adjustments for the uses and releases after a release, computed once for both rules."""
    entry = site.source.cache.get("behind a release")
    if not isinstance(entry, tuple) or entry[0] != site.start:
        entry = site.start, _look_behind(site, name)
        site.source.cache["behind a release"] = entry
    next_use = entry[1]
    assert isinstance(next_use, _Next)
    return next_use


def _look_behind(site: Site, name: bytes) -> _Next:
    use: float | None = None
    guarded = False
    for mention in follow(site, name, _behind(site)):
        sureness = _sureness(mention, guarded=guarded)
        if mention.kind == "argument" and mention.callee in RELEASING:
            sureness -= JOINED if GOTO_LABEL.search(site.source.text, site.at, mention.at) else 0.0
            return _Next(use, None if mention.left and _is_set_in_loop(site, name) else sureness)
        delta = 0.0 if is_shown(site, mention) else _used(site, name, mention)
        if delta is None or (delta and mention.left and _is_set_in_loop(site, name)):
            return _Next(use)
        if delta and use is None:
            use = sureness + delta - 1.0
        if mention.kind == "assignment":
            return _Next(use)
        guarded = guarded or mention.kind == "test"
    return _Next(use)


def _subject(site: Site) -> bytes | None:
    """Return the released pointer, or None if it cannot be followed."""
    if site.function is None or (site.name != b"delete" and len(site.arguments.spans) != 1):
        return None
    if DEFERRED.search(site.source.text, max(0, site.start - 24), site.start):
        return None
    name = plain_pointer(released(site))
    is_object = name == b"this" and site.name == b"delete"
    if name is None or is_object or name in (b"0", b"NULL", b"nullptr") or _is_replaced(site):
        return None
    return name


def _behind(site: Site) -> int:
    if site.name == b"delete":
        end = site.source.text.find(b";", site.at)
        return end if end >= 0 else site.at
    return site.arguments.end or site.at


def _is_replaced(site: Site) -> bool:
    """Return whether the file defines its own `free`, which may set the pointer to NULL."""
    return is_in_file(site, REPLACED)


def _used(site: Site, name: bytes, mention: Mention) -> float | None:
    """Return the weight of a mention as a use, from 0 to 1; None if the pointer changes there."""
    if mention.kind == "assignment":
        return 1.0 if _reads_itself(site.source.text, name, mention.at) else None
    if mention.kind in ("declaration", "address", "lost"):
        return None
    return COUNTS.get(mention.kind, 0.0)


def _is_set_in_loop(site: Site, name: bytes) -> bool:
    """Return whether an endless loop around the release assigns the pointer before each release."""
    text = site.source.text
    start = max(site.function.body[0] if site.function else site.start, site.start - REACH)
    opened: list[int] = []
    for brace in BRACE.finditer(text, start, site.start):
        if brace[0] == b"{":
            opened.append(brace.start())
        elif opened:
            opened.pop()
    loops = [at for at in opened if ENDLESS.search(text[max(start, at - LOOP_REACH) : at])]
    return bool(loops) and any(use.kind == "assignment" for use in uses(text, name, loops[-1], site.start))


def _reads_itself(text: bytes, name: bytes, at: int) -> bool:
    """Return whether an assignment reads the pointer itself, as in `p = p->next`."""
    end = VALUE_END.search(text, at, at + 256)
    value = text[at + len(name) : end.start() if end else at + 256]
    offset = value.find(name)
    before = value[offset - 1 : offset]
    return (
        offset > 0 and not (before.isalnum() or before in b"_.>") and value[offset + len(name) :].lstrip()[:2] == b"->"
    )


def _sureness(mention: Mention, *, guarded: bool) -> float:
    moved = 0.1 if mention.left == 0 and mention.inner == 0 else 0.0
    moved -= 0.05 * min(mention.left, 2) + 0.05 * min(mention.inner, 2)
    if mention.left and mention.inner:
        moved -= 0.15
    return moved - (0.2 if guarded else 0.0)


def _is_stepped_over(site: Site, name: bytes) -> bool:
    """Return whether the loop reads the next element from the element just released."""
    text = site.source.text
    before = text[max(0, site.start - LOOP_REACH) : site.start]
    if b"for" not in before and b"FOREACH" not in before:
        return False
    if step := NEXT_STEP.search(before):
        return b"%b->" % name in step["step"] and not _leaves(site)
    each = EACH.search(before)
    if each is None or SAFE.search(each[0][:40]) or not _is_element(each[0], name):
        return False
    return not _leaves(site)


def _is_element(head: bytes, name: bytes) -> bool:
    opened = head.partition(b"(")[2].lstrip()
    return opened.startswith(name) and opened[len(name) :].lstrip()[:1] == b","


def _leaves(site: Site) -> bool:
    """Return whether the loop exits, or the pointer is reassigned, before the next iteration."""
    start = _behind(site)
    rest = site.source.text[start : start + LOOP_REACH]
    if LEAVES.match(rest):
        return True
    name = plain_pointer(released(site)) or b""
    return any(mention.kind == "assignment" and mention.left == 0 for mention in follow(site, name, start))


def _not_from_heap(site: Site, expression: bytes) -> float | None:
    """Check for a release of memory that is not from the heap; an upper-case macro may expand to anything."""
    if address := ADDRESS.match(expression):
        if address["element"] or site.name == b"delete":
            return None if address["element"] and address["element"].strip() == b"[0]" else 0.0
        if expression.strip(b"& \t\r\n").isupper():
            return None
        return -0.1 if address["member"] else 0.15
    if expression[:1] == b'"' or expression[:2] == b'L"':
        return 0.15
    bare = CAST.sub(b"", expression, count=1)
    added = ARITHMETIC.match(bare)
    if added and plain_pointer(added["name"]):
        return -0.1
    name = plain_pointer(expression)
    return _local_or_moved(site, name) if name and NAME.match(name) else None


def _local_or_moved(site: Site, name: bytes) -> float | None:
    possible = values_before(site, name)
    values = [value for value in possible if not NOTHING.match(value.text)]
    if any(branch_has_ended(site.source.text, value.at, site.start) for value in values):
        return None
    if not values:
        return 0.15 if _is_array(site, name) else None
    fixed = [_is_fixed(site, value) for value in values]
    if any(fixed):
        return _all_fixed(site, name, possible) if all(fixed) else _mixed(site, name)
    moved = [value for value in values if not value.text and _is_step(site.source.text, value.at, len(name))]
    others = [value for value in values if value.text]
    if not moved or len(moved) + len(others) < len(values):
        return None
    return -0.1 if any(GIVES.search(value.text) for value in others) else -0.2


def _is_step(text: bytes, at: int, length: int) -> bool:
    if STEP_BEFORE.search(text[max(0, at - 8) : at]):
        return MEMBER.match(text, at + length) is None
    return STEP_BEHIND.match(text, at + length) is not None


def _is_fixed(site: Site, value: Assigned, follow_on: bool = True) -> bool:
    """Return whether a value is on the stack or constant, directly or through one more variable."""
    bare = CAST.sub(b"", value.text, count=1)
    if FIXED.match(bare):
        return True
    name = plain_pointer(bare)
    if name is None or NAME.match(name) is None:
        return False
    if _is_array(site, name):
        return True
    further = Scope(site).values(name, value.at) if follow_on else []
    return bool(further) and all(_is_fixed(site, one, False) for one in further)


def _all_fixed(site: Site, name: bytes, possible: Sequence[Assigned]) -> float | None:
    """Return the adjustment if all values are fixed, or None if `if (p != buffer) free(p);` excludes them.

    A call with the address of the pointer, or a macro, may assign memory from the heap, and the last assignment may
    clear the pointer on the paths to the site.
    """
    if NOTHING.match(possible[0].text) or any(
        use.kind == "address" or MACRO.match(use.callee) for use in site.uses_before(name)
    ):
        return None
    guard = INEQUALITY_TEST.search(site.source.text, max(0, site.start - GUARD_REACH), site.start)
    return None if guard and name in guard.groups() else 0.1


def _mixed(site: Site, name: bytes) -> float | None:
    """Return the adjustment if only some values are from the heap, or None after a test such as `if (p != buffer)`."""
    if any(use.kind == "test" for use in site.uses_before(name)):
        return None
    return -0.2 if is_conditional(site.source.text, site.start) else -0.1


def _is_array(site: Site, name: bytes) -> bool:
    if not _may_be_array(site, name):
        return False
    scope = Scope(site)
    declaration = scope.declared(name)
    if declaration is None or not declaration.dimensions or scope.is_parameter(name):
        return False
    cache: dict[bytes, bool] = site.source.once("pointers of the file", dict)
    if name not in cache and len(cache) < NAMES_MAX:
        cache[name] = re.search(POINTER % name, site.source.text) is not None
    return not cache.get(name, False)


def _may_be_array(site: Site, name: bytes) -> bool:
    """Return whether `type name[` occurs in the function or in the file (a quick test)."""
    text = site.source.text
    start = site.function.body[0] if site.function else 0
    if _is_declared_between(text, name, max(start, site.start - REACH), site.start):
        return True
    cache: dict[bytes, bool] = site.source.once("arrays of the file", dict)
    if name not in cache and len(cache) < NAMES_MAX:
        cache[name] = _is_declared_between(text, name, 0, start)
    return cache.get(name, False)


def _is_declared_between(text: bytes, name: bytes, start: int, end: int) -> bool:
    return any(ARRAY.search(text[max(0, at - 48) : at]) for at in _starts(text, name + b"[", start, end))


def _starts(text: bytes, what: bytes, start: int, end: int) -> Iterator[int]:
    for _ in range(MENTIONS_MAX):
        start = text.find(what, start, end)
        if start < 0:
            return
        yield start
        start += len(what)


RELEASES = tuple(sorted(name.decode() for name in RELEASING - {b"delete"}))
RULES: tuple[Rule, ...] = (
    rule("uaf_suspect", check_use, calls=RELEASES, words=("delete",)),
    rule("double_free_and_free_non_heap", check_release, calls=RELEASES, words=("delete",)),
)
