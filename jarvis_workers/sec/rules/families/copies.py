"""unsafe_api and atoi_family: calls that are findings by themselves, with a confidence that depends on the context.

The confidence of a copy is highest if both sizes are known and the source does not fit; a source that fits is not
reported.
"""

import re
from collections.abc import Iterable, Sequence

from jarvis_workers.sec.rules.analysis.buffer_sizes import BufferSizes
from jarvis_workers.sec.rules.analysis.declarations import bare
from jarvis_workers.sec.rules.analysis.literals import is_constant, pieces, provenance
from jarvis_workers.sec.rules.analysis.macros import is_in_macro
from jarvis_workers.sec.rules.analysis.printf_length import printed_length
from jarvis_workers.sec.rules.analysis.size_hints import (
    is_made_to_measure,
    is_source_bounded,
    is_source_limited,
    was_measured,
)
from jarvis_workers.sec.rules.analysis.symbolic_sizes import Amount, is_fixed, squeezed
from jarvis_workers.sec.rules.rule import Rule, Site, rule
from jarvis_workers.source.lazy_regex import lazy

ARGUMENTS = {b"gets": (1, 1), b"sprintf": (2, 99), b"vsprintf": (3, 3)}
COPIES = (2, 2)
PROVEN, INPUT, OF_CALLER = 0.3, 0.15, 0.0
NUMBERS, MEASURED, ELSEWHERE, BOUNDED, UNKNOWN = -0.25, -0.25, -0.25, -0.25, -0.2
WIDE = 4
OUTSIDE, TESTED = 0.1, -0.1
LEFT, RANGE_MAX = 96, 240
NAME = lazy(rb"[A-Za-z_]\w*+\Z")
PLACE = lazy(rb"\*?[A-Za-z_]\w*+(?>(?:->|\.)\w++|\[[^\]]*+\])*+\Z")
WITH_ZERO = lazy(rb"\s*+[!=]=\s*+0\b")
OF_ZERO = lazy(rb"\s*+(?:[!=]=\s*+0\b|[)&|?])")
CONSTANT = lazy(rb"\bconst\b[\w\s]*+\Z")
INITIALIZED = lazy(rb"\[[^][;]{0,64}\]\s*+=")
UNBOUNDED_STRING = lazy(rb"%[-+ #0]*\*?\d*(?:l?s|S)")
FROM_OUTSIDE = lazy(rb"\b(?:argv|optarg|getenv|fgets|recv|getline|strtok\w*|environ)\b")


def check_copy(site: Site) -> float | None:
    """Check an unbounded copy that is not of a constant, or of a text whose length was compared or allocated before."""
    least, most = ARGUMENTS.get(site.name, COPIES)
    arguments = site.arguments
    if arguments.end is not None and not least <= len(arguments.spans) <= most:
        return None
    if site.name == b"gets":
        return PROVEN
    if site.name in (b"sprintf", b"vsprintf"):
        return _formatted(site)
    source = site.masked(1)
    scope = BufferSizes(site)
    fits = _fits(site, scope, source.strip())
    if fits is not None:
        return None if fits else PROVEN
    if is_constant(source) or provenance(site, source) == "constant" or _is_constant_array(scope, bare(source)):
        return None
    return None if is_source_limited(site, scope, source) else _size_adjustment(site, scope, source)


def check_conversion(site: Site) -> float | None:
    arguments = site.arguments
    if arguments.end is not None and len(arguments.spans) != 1:
        return None
    text = site.masked(0)
    if is_constant(text) or _is_in_range(site) or _is_truth_value(site):
        return None
    moved = OUTSIDE if FROM_OUTSIDE.search(text) else 0.0
    return moved + TESTED if _is_tested_next(site) else moved


def _is_in_range(site: Site) -> bool:
    """Return whether the number is compared with a lower and an upper bound next, which reject invalid text as well."""
    target = re.escape(site.result.target)
    if site.result.kind != "assigned" or not PLACE.match(site.result.target):
        return False
    after = site.after(RANGE_MAX)
    found = re.findall(rb"([<>])=?\s*+%b\b(?!\s*[.([])|(?<!\w)%b\s*+([<>])(?![<>])" % (target, target), after)
    return {(b"<" if left == b">" else b">") if left else right for left, right in found} == {b"<", b">"}


def _is_truth_value(site: Site) -> bool:
    """Return whether the number, as 0 of which invalid text is read, is only compared with 0."""
    after = site.after(RANGE_MAX)
    if site.result.kind == "tested":
        return OF_ZERO.match(after) is not None
    return site.result.kind in ("passed", "assigned", "other", "returned") and WITH_ZERO.match(after) is not None


def _is_tested_next(site: Site) -> bool:
    """Return whether the first use of the number is a comparison, which may reject invalid text that was read as 0."""
    target = site.result.target
    following = next(site.uses_after(target), None) if target else None
    return site.result.tested or (following is not None and following.kind == "test")


def _size_adjustment(site: Site, scope: BufferSizes, source: bytes) -> float:
    if is_in_macro(site):
        return ELSEWHERE
    if was_measured(site, source) or is_made_to_measure(site, scope, site.masked(0)):
        return MEASURED
    if is_source_bounded(site, scope):
        return BOUNDED
    return _origin(site, scope, [source])


def _is_constant_array(scope: BufferSizes, name: bytes) -> bool:
    """Return whether a name is that of a constant array which the file initializes."""
    if not NAME.match(name) or scope.is_parameter(name):
        return False
    return any(
        CONSTANT.search(scope.text[max(0, at - LEFT) : at].rpartition(b";")[2])
        and INITIALIZED.match(scope.text, at + len(name))
        for at in scope.occurrences(name + b"[", scope.site.start)
    )


def _origin(site: Site, scope: BufferSizes, sources: Iterable[bytes]) -> float:
    """Return the adjustment for text from outside the program, or from callers not proven to pass only bounded text.

    Text from callers counts only if the target is a buffer of fixed size, or a buffer of the caller, of unknown size.
    """
    names = [bare(source) for source in sources]
    if any(FROM_OUTSIDE.search(value) for name in names for value in (name, *_caller_values(scope, name))):
        return INPUT
    target = bare(site.masked(0))
    capacities = scope.capacities(target)
    fixed = bool(capacities) and all(is_fixed(name) for capacity in capacities for name in capacity.names)
    if not fixed and not (NAME.match(target) and _is_of_caller(scope, target)):
        return UNKNOWN
    return OF_CALLER if any(NAME.match(name) and _is_of_caller(scope, name) for name in names) else UNKNOWN


def _caller_values(scope: BufferSizes, name: bytes) -> list[bytes]:
    """Return the values of a pointer, but no numbers from outside, which are not text."""
    return [value.text for value in scope.values(name)] if NAME.match(name) and scope.is_pointer(name) else []


def _is_of_caller(scope: BufferSizes, name: bytes) -> bool:
    is_passed = scope.is_parameter(name) and scope.is_pointer(name) and not scope.values(name)
    return is_passed and not scope.is_bounded_by_callers(name)


def _fits(site: Site, scope: BufferSizes, source: bytes) -> bool | None:
    """Return whether the source fits into the target, or None if a size is unknown."""
    capacities = scope.capacities(site.masked(0))
    if not capacities:
        return None
    wide = site.name.startswith(b"wc")
    length, most = scope.length(source), scope.max_length(source)
    if length is None:
        length = Amount.named(b"%b(%b)" % (b"wcslen" if wide else b"strlen", squeezed(source)))
    length_before = _used_length(site, scope) if b"cat" in site.name else Amount.of(0)
    unit = Amount.of(WIDE if wide else 1)
    comparisons = {_compared(length, length_before, unit, capacity) for capacity in capacities}
    if "more" in comparisons:
        return False
    if comparisons == {"no more"} or {_compared(most, length_before, unit, capacity) for capacity in capacities} == {
        "no more"
    }:
        return True
    return None


def _compared(length: Amount | None, used: Amount, unit: Amount, capacity: Amount) -> str:
    return "" if length is None else length.plus(used).plus(Amount.of(1)).times(unit).compared(capacity)


def _used_length(site: Site, scope: BufferSizes) -> Amount:
    target = site.masked(0).strip()
    length = scope.length(target) if NAME.match(target) else None
    return Amount.named(b"strlen(%b)" % squeezed(target)) if length is None else length


def _formatted(site: Site) -> float | None:
    text = site.masked(1)
    if b'"' not in text:
        return MEASURED
    scope = BufferSizes(site)
    capacities = scope.capacities(site.masked(0))
    printed = printed_length(site, 1) if site.name == b"sprintf" else None
    if printed:
        if any(Amount.of(printed.least + 1).compared(capacity) == "more" for capacity in capacities):
            return PROVEN
        if printed.most is not None:
            return NUMBERS if any(_is_less(capacity, printed.most + 1) for capacity in capacities) else None
    if not UNBOUNDED_STRING.search(pieces(text, site.original(1))):
        return NUMBERS
    return _of_strings(site, scope, [site.masked(number) for number in range(2, len(site.arguments.spans))])


def _of_strings(site: Site, scope: BufferSizes, texts: Sequence[bytes]) -> float | None:
    if any(is_source_limited(site, scope, text) for text in texts):
        return None
    if is_made_to_measure(site, scope, site.masked(0)) or any(was_measured(site, text) for text in texts):
        return MEASURED
    return _origin(site, scope, texts)


def _is_less(capacity: Amount, size: int) -> bool:
    return capacity.number is not None and capacity.number < size


RULES: tuple[Rule, ...] = (
    rule(
        "unsafe_api",
        check_copy,
        calls=("strcpy", "strcat", "stpcpy", "wcscpy", "wcscat", "wcpcpy", "gets", "sprintf", "vsprintf"),
    ),
    rule("atoi_family", check_conversion, calls=("atoi", "atol", "atoll", "atof")),
)
