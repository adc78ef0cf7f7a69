"""unsafe_api and atoi_family: calls that are findings by themselves, with a confidence that depends on the context.

The confidence of a copy is highest if both sizes are known and the source does not fit; a source that fits is not
reported.
"""

from collections.abc import Iterable

from jarvis_workers.sec.rules.analysis.buffer_sizes import BufferSizes
from jarvis_workers.sec.rules.analysis.declarations import bare
from jarvis_workers.sec.rules.analysis.literals import is_constant, pieces, provenance
from jarvis_workers.sec.rules.analysis.macros import is_in_macro
from jarvis_workers.sec.rules.analysis.printf_length import printed_length
from jarvis_workers.sec.rules.analysis.size_hints import is_made_to_measure, is_source_bounded, was_measured
from jarvis_workers.sec.rules.analysis.symbolic_sizes import Amount, is_fixed, squeezed
from jarvis_workers.sec.rules.rule import Rule, Site
from jarvis_workers.source.lazy_regex import lazy

ARGUMENTS = {b"gets": (1, 1), b"sprintf": (2, 99), b"vsprintf": (3, 3)}
COPIES = (2, 2)
PROVEN, NUMBERS = 0.15, -0.3
MEASURED, ELSEWHERE, BOUNDED, UNKNOWN = -0.2, -0.15, -0.1, -0.05
WIDE = 4
NAME = lazy(rb"[A-Za-z_]\w*+\Z")
UNBOUNDED_STRING = lazy(rb"%[-+ #0]*\*?\d*(?:l?s|S)")
FROM_OUTSIDE = lazy(rb"\b(?:argv|optarg|getenv|fgets|recv|getline|strtok\w*|environ)\b")


def check_copy(site: Site) -> float | None:
    """Check an unbounded copy; lower the confidence if the source is constant, or if a length was tested before."""
    least, most = ARGUMENTS.get(site.name, COPIES)
    given = site.arguments
    if given.end is not None and not least <= len(given.spans) <= most:
        return None
    if site.name == b"gets":
        return 0.15
    if site.name in (b"sprintf", b"vsprintf"):
        return _formatted(site)
    source = site.masked(1)
    scope = BufferSizes(site)
    fits = _fits(site, scope, source.strip())
    if fits is not None:
        return None if fits else PROVEN
    if is_constant(source) or provenance(site, source) == "constant":
        return NUMBERS - 0.05
    return _size_adjustment(site, scope, source)


def check_conversion(site: Site) -> float | None:
    given = site.arguments
    if given.end is not None and len(given.spans) != 1:
        return None
    text = site.masked(0)
    if is_constant(text):
        return None
    moved = 0.1 if FROM_OUTSIDE.search(text) else 0.0
    return moved + BOUNDED if _is_tested_next(site) else moved


def _is_tested_next(site: Site) -> bool:
    """Return whether the first use of the number is a comparison, which may reject invalid text that was read as 0."""
    target = site.result.target
    following = next(site.uses_after(target), None) if target else None
    return site.result.tested or (following is not None and following.kind == "test")


def _size_adjustment(site: Site, scope: BufferSizes, source: bytes) -> float:
    if is_in_macro(site):
        return ELSEWHERE
    if was_measured(site, source) or is_made_to_measure(site, scope):
        return MEASURED
    if is_source_bounded(site, scope):
        return BOUNDED
    return 0.0 if _is_open(site, scope, [source]) else UNKNOWN


def _is_open(site: Site, scope: BufferSizes, sources: Iterable[bytes]) -> bool:
    """Return whether the text is from outside the program, or from callers not proven to pass only bounded text.

    Text from callers counts only if the target is a buffer of fixed size, or a buffer of the caller, of unknown size.
    """
    names = [bare(source) for source in sources]
    if any(FROM_OUTSIDE.search(value) for name in names for value in (name, *_given(scope, name))):
        return True
    target = bare(site.masked(0))
    capacities = scope.capacities(target)
    fixed = bool(capacities) and all(is_fixed(name) for capacity in capacities for name in capacity.names)
    if not fixed and not (NAME.match(target) and _is_of_caller(scope, target)):
        return False
    return any(NAME.match(name) and _is_of_caller(scope, name) for name in names)


def _given(scope: BufferSizes, name: bytes) -> list[bytes]:
    """Return the values of a pointer, but no numbers from outside, which are not text."""
    return [value.text for value in scope.values(name)] if NAME.match(name) and scope.is_pointer(name) else []


def _is_of_caller(scope: BufferSizes, name: bytes) -> bool:
    given = scope.is_parameter(name) and scope.is_pointer(name) and not scope.values(name)
    return given and not scope.is_bounded_by_callers(name)


def _fits(site: Site, scope: BufferSizes, source: bytes) -> bool | None:
    """Return whether the source fits into the target, None if a size is unknown."""
    capacities = scope.capacities(site.masked(0))
    if not capacities:
        return None
    wide = site.name.startswith(b"wc")
    length, most = scope.length(source), scope.max_length(source)
    if length is None:
        length = Amount.named(b"%b(%b)" % (b"wcslen" if wide else b"strlen", squeezed(source)))
    held = _held(site, scope) if b"cat" in site.name else Amount.of(0)
    unit = Amount.of(WIDE if wide else 1)
    said = {_compared(length, held, unit, capacity) for capacity in capacities}
    if "more" in said:
        return False
    if said == {"no more"} or {_compared(most, held, unit, capacity) for capacity in capacities} == {"no more"}:
        return True
    return None


def _compared(length: Amount | None, held: Amount, unit: Amount, capacity: Amount) -> str:
    return "" if length is None else length.plus(held).plus(Amount.of(1)).times(unit).compared(capacity)


def _held(site: Site, scope: BufferSizes) -> Amount:
    target = site.masked(0).strip()
    known = scope.length(target) if NAME.match(target) else None
    return Amount.named(b"strlen(%b)" % squeezed(target)) if known is None else known


def _formatted(site: Site) -> float | None:
    text = site.masked(1)
    if b'"' not in text:
        return BOUNDED
    capacities = BufferSizes(site).capacities(site.masked(0))
    printed = printed_length(site, 1) if site.name == b"sprintf" else None
    if printed:
        if any(Amount.of(printed.least + 1).compared(capacity) == "more" for capacity in capacities):
            return PROVEN
        if printed.most is not None:
            return None if capacities and _all_hold(capacities, printed.most + 1) else NUMBERS
    if not UNBOUNDED_STRING.search(pieces(text, site.original(1))):
        return NUMBERS
    scope = BufferSizes(site)
    texts = [site.masked(number) for number in range(2, len(site.arguments.spans))]
    if is_made_to_measure(site, scope) or any(was_measured(site, text) for text in texts):
        return MEASURED
    return 0.0 if _is_open(site, scope, texts) else UNKNOWN


def _all_hold(capacities: list[Amount], size: int) -> bool:
    return all(Amount.of(size).compared(capacity) == "no more" for capacity in capacities)


RULES: tuple[Rule, ...] = (
    Rule(
        "unsafe_api",
        category="unsafe_api",
        cwe=120,
        confidence=0.8,
        check=check_copy,
        calls=("strcpy", "strcat", "stpcpy", "wcscpy", "wcscat", "wcpcpy", "gets", "sprintf", "vsprintf"),
        title="Unbounded string copy",
        description="Writes to a buffer without knowing its size: a source longer than the destination overflows it.",
        suggestion=(
            "Pass the size of the destination: snprintf, strlcpy, or memcpy after a length check; fgets for gets."
        ),
        verification="The source can be longer than the destination, and no earlier check limits it.",
        bad="char name[32];\nstrcpy(name, argv[1]);",
        good='snprintf(name, sizeof name, "%s", argv[1]);',
    ),
    Rule(
        "atoi_family",
        category="input_validation",
        cwe=20,
        confidence=0.5,
        check=check_conversion,
        calls=("atoi", "atol", "atoll", "atof"),
        title="Unchecked string-to-number conversion (atoi)",
        description=(
            "Cannot distinguish 0 from non-numeric text; the behaviour is undefined when the value is out of range."
        ),
        suggestion="Use strtol or strtod, and check errno, the end pointer and the range.",
        verification="Non-numeric text, or a number out of range, changes what the program does.",
        bad="size_t n = atoi(argv[1]);",
        good="errno = 0;\nlong n = strtol(argv[1], &end, 10);\nif (errno || *end || n < 0)\n    usage();",
    ),
)
