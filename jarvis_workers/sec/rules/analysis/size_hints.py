"""Evidence that an unbounded copy is safe: the code measures one side of it, without proving that the source fits.

A string that provably fits is not reported at all (see buffer_sizes); this evidence only lowers the confidence.
"""

from jarvis_workers.sec.rules.analysis.buffer_sizes import ALLOCATORS, BufferSizes
from jarvis_workers.sec.rules.analysis.declarations import bare, mentions_backwards
from jarvis_workers.sec.rules.rule import Site
from jarvis_workers.source.lazy_regex import lazy

REACH, NEAR = 16_384, 1_024
LEFT = 48
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


def is_made_to_measure(site: Site, scope: BufferSizes) -> bool:
    """Return whether the target was allocated in this function, with a computed size."""
    target = BASE.match(site.masked(0))
    if target is None:
        return False
    expression = [bare(value.text) for value in scope.values(target[1])]
    calls = [call for call in map(CALL.match, expression) if call is not None]
    if any(call[1] in ALLOCATORS for call in calls):
        return any(not capacity.is_plain for capacity in scope.capacities(target[1]))
    return any(LIKE_ALLOCATOR.search(call[1]) and _is_worked_out(call.string[call.end() :]) for call in calls)


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
