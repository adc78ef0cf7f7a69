"""Evidence that an unbounded copy is safe: the code measures one side of it, without proving that the source fits.

A string that provably fits is not reported at all (see buffer_sizes), nor one whose length was compared with a limit
or allocated; the other evidence only lowers the confidence.
"""

from collections.abc import Iterator

from jarvis_workers.sec.rules.analysis.bounds_checks import is_limited
from jarvis_workers.sec.rules.analysis.buffer_sizes import ALLOCATORS, BufferSizes
from jarvis_workers.sec.rules.analysis.declarations import bare, mentions_backwards
from jarvis_workers.sec.rules.rule import Site
from jarvis_workers.source.lazy_regex import lazy

REACH, NEAR = 16_384, 1_024
LEFT, STATEMENT_MAX = 48, 256
LENGTHS_MAX = 4
OF_LENGTH = lazy(rb"\b(?:strlen|wcslen|strnlen|STRLEN)\s*+\((?:\s*+\([\w\s*]+\))?\s*+\Z")
LENGTH_CALLS = (b"strlen", b"wcslen", b"strnlen", b"sizeof", b"sdslen", b"STRLEN")
EXPRESSION = lazy(rb"\*?([\w.\[\]>-]{1,64})\Z")
BASE = lazy(rb"[&*(\s]*+([A-Za-z_]\w*+)")
SIZE_BEFORE = lazy(rb"\bsizeof\b\s*+\(?\s*+\Z")
COMPARED_AFTER = lazy(rb"\s*+\)*+(?>\s*+[-+]\s*+[\w.>()-]++){0,3}+\s*+\)?\s*+[<>]=?(?![<>])")
COMPARED_BEFORE = lazy(rb"(?<![<>-])[<>]=?\s*+\(?\s*+sizeof\b\s*+\(?\s*+\Z")
BOUNDED_COPY = lazy(rb"\b(?:strn?l?cpy|strlcat|strncat|mem(?:cpy|move)|m?v?s[cn]*printf)\s*+\(\s*+\Z")
UNBOUNDED = lazy(rb"\b(?:strcpy|v?sprintf)\s*+\(\s*+\Z")
CALL = lazy(rb"([A-Za-z_]\w*+)\s*+\(")
LIKE_ALLOCATOR = lazy(rb"(?:alloc|ALLOC|Alloc)\w*+\Z|_new\Z")
# The length, or a sum with it, within the arguments of an allocator: `p = xmalloc(strlen(a) + `.
ALLOCATES = lazy(rb"(?i:(?:alloc|_new)\w*+)\s*+\([^;{}]*\Z|\bnew\b[^;{}]*\Z")
LENGTH_OF = lazy(rb"(?<![\w.>*])([A-Za-z_]\w*+)\s*+=(?!=)[^;{}=<>?]*\Z")
MADE = lazy(rb"\s*+=\s*+(?:\([\w\s*]+\)\s*+)?(?i:\w*alloc\w*+)\s*+\(")
TRIVIAL = lazy(rb"[\s)]*+(?:[<>]=?|[!=]=)\s*+[0-3]\b")
SIZEOF = lazy(rb"\bsizeof\s*+(?:\([^()]*+\)|\w++)")
VARIABLE = lazy(rb"\b[a-z_]\w*+")


def was_measured(site: Site, source: bytes) -> bool:
    """Return whether the length of the source, or the size of the first argument, was tested before the site."""
    source = bare(source)
    text, end = site.source.text, site.start
    floor = max(site.function.body[0], end - REACH) if site.function else max(0, end - NEAR)
    named = EXPRESSION.match(source)
    if named and any(_is_length_call(text, at) for at in mentions_backwards(text, named[1], floor, end)):
        return True
    target = BASE.match(site.masked(0))
    return target is not None and any(
        _limits(text, at, at + len(target[1]), source) for at in mentions_backwards(text, target[1], floor, end)
    )


def is_source_limited(site: Site, scope: BufferSizes, source: bytes) -> bool:
    """Return whether the function compared the length of the source with a limit, or allocated memory by it.

    An allocation says nothing about a target of fixed size.
    """
    source, target = bare(source), scope.capacities(site.masked(0))
    floor = max(site.function.body[0], site.start - REACH) if site.function else site.start
    fixed = bool(target) and all(capacity.is_plain for capacity in target)
    seen: set[bytes] = set()
    for at, behind in _lengths(site, source, floor):
        length, name = site.source.text[at:behind], _variable_of(site.source.text, at, floor)
        if not fixed and _is_allocated(site, at, behind, b"" if name in seen else name):
            return True
        if length not in seen and not TRIVIAL.match(site.source.text, behind) and is_limited(site, [length]):
            return True
        if name and name not in seen and is_limited(site, [name]):
            return True
        seen |= {length, name}
    return False


def _lengths(site: Site, source: bytes, floor: int) -> Iterator[tuple[int, int]]:
    """Yield the spans of `strlen(source)` before the site, in reverse order."""
    named = EXPRESSION.match(source)
    text, left = site.source.text, LENGTHS_MAX
    for at in mentions_backwards(text, named[1], floor, site.start) if named else ():
        close = text.find(b")", at, at + len(source) + LEFT)
        call = OF_LENGTH.search(text, max(floor, at - LEFT), at)
        if call is None or text[at + len(source) : close].strip() or left == 0:
            continue
        left -= 1
        yield call.start(), close + 1


def _variable_of(text: bytes, at: int, floor: int) -> bytes:
    """Return the variable that is assigned a length, or a sum with it; empty if there is none."""
    match = LENGTH_OF.search(text, max(floor, at - STATEMENT_MAX), at)
    return match[1] if match else b""


def _is_allocated(site: Site, at: int, behind: int, name: bytes) -> bool:
    """Return whether memory is allocated for a length and its NUL, directly or by the variable that holds them."""
    text = site.source.text
    statement = text[max(0, at - STATEMENT_MAX) : at]
    end = text.find(b";", behind, behind + STATEMENT_MAX)
    if b"+" not in text[at - len(statement) + _last_edge(statement) + 1 : end]:
        return bool(name) and any(
            b"+" in text[one : text.find(b";", one)] for one in _allocations(text, name, behind, site.start)
        )
    if ALLOCATES.search(statement):
        return True
    return bool(name) and any(True for _ in _allocations(text, name, behind, site.start))


def _allocations(text: bytes, name: bytes, start: int, end: int) -> Iterator[int]:
    return (
        at
        for at in mentions_backwards(text, name, start, end)
        if ALLOCATES.search(text, max(start, at - STATEMENT_MAX), at)
    )


def _last_edge(text: bytes) -> int:
    return max(text.rfind(mark) for mark in (b";", b"{", b"}"))


def is_made_to_measure(site: Site, scope: BufferSizes, target: bytes) -> bool:
    """Return whether the target was allocated in this function, with a computed size."""
    base = BASE.match(target)
    if base is None:
        return False
    if _is_allocated_nearby(site, target.strip()):
        return True
    expression = [bare(value.text) for value in scope.values(base[1])]
    calls = [call for call in map(CALL.match, expression) if call is not None]
    if any(call[1] in ALLOCATORS for call in calls):
        return any(not capacity.is_plain for capacity in scope.capacities(base[1]))
    return any(LIKE_ALLOCATOR.search(call[1]) and _is_worked_out(call.string[call.end() :]) for call in calls)


def _is_allocated_nearby(site: Site, target: bytes) -> bool:
    """Return whether an expression, such as `*out` or `p->name`, was assigned memory of a computed size before."""
    text = site.source.text
    floor = max(site.function.body[0] if site.function else 0, site.start - NEAR)
    mentions = mentions_backwards(text, target, floor, site.start)
    made = (MADE.match(text, at + len(target)) for at in mentions)
    sizes = (text[one.end() : one.end() + STATEMENT_MAX].partition(b";")[0] for one in made if one)
    return any(map(_is_worked_out, sizes))


def is_source_bounded(site: Site, scope: BufferSizes) -> bool:
    """Return whether the source is in a buffer of known size, which is not known to exceed the size of the target."""
    target, capacities = scope.capacities(site.masked(1)), scope.capacities(site.masked(0))
    return bool(target) and all(one.compared(capacity) != "more" for one in target for capacity in capacities)


def _is_worked_out(arguments: bytes) -> bool:
    """Return whether a size contains a variable or a length, not only `sizeof` and constants."""
    return VARIABLE.search(SIZEOF.sub(b"", arguments)) is not None


def _is_length_call(text: bytes, at: int) -> bool:
    return text[max(0, at - 16) : at].rstrip(b" \t\r\n(*").endswith(LENGTH_CALLS)


def _limits(text: bytes, at: int, behind: int, source: bytes) -> bool:
    """Return whether a mention is `len < sizeof(target)`, `sizeof(target) - used > len`, or a bounded copy."""
    before = text[max(0, at - LEFT) : at]
    if b"sizeof" in before and SIZE_BEFORE.search(before):
        after = COMPARED_AFTER.match(text, behind, behind + 64)
        return after is not None or COMPARED_BEFORE.search(before) is not None
    if before[-1:] != b"(" or not source or source not in text[behind : behind + 128].partition(b";")[0]:
        return False
    opened = BOUNDED_COPY.search(before)
    return opened is not None and not UNBOUNDED.search(opened[0])
