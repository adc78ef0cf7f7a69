"""format_string and scanf_no_width: dangerous format arguments of printf and scanf."""

import re

from jarvis_workers.sec.rules.analysis.buffer_sizes import BufferSizes
from jarvis_workers.sec.rules.analysis.callers import parameters
from jarvis_workers.sec.rules.analysis.declarations import NAME
from jarvis_workers.sec.rules.analysis.literals import is_constant, pieces, provenance
from jarvis_workers.sec.rules.analysis.macros import is_in_macro
from jarvis_workers.sec.rules.analysis.size_hints import is_made_to_measure
from jarvis_workers.sec.rules.analysis.symbolic_sizes import Amount
from jarvis_workers.sec.rules.rule import Rule, Site, rule
from jarvis_workers.source.lazy_regex import lazy

FORMAT_ARGUMENT = {
    name: index
    for index, names in enumerate(
        (
            b"printf vprintf wprintf vwprintf printk warn warnx vwarn vwarnx setproctitle",
            b"fprintf vfprintf fwprintf vfwprintf dprintf vdprintf sprintf vsprintf asprintf vasprintf syslog vsyslog "
            b"err errx verr verrx",
            b"snprintf vsnprintf swprintf vswprintf",
        )
    )
    for name in names.split()
}
WIDTH_ARGUMENT = {
    name: index
    for index, names in enumerate((b"scanf vscanf wscanf", b"fscanf vfscanf fwscanf sscanf vsscanf swscanf"))
    for name in names.split()
}
CONVERSION = lazy(
    rb"%(?:\d+\$)?(?P<skip>\*?)(?P<width>\d*)(?:hh|h|ll|l|q|j|z|t|L)?(?P<allocates>m?)l?(?P<kind>.)", re.DOTALL
)
TRANSLATED_NAME = lazy(rb"(?:_|Q_|tr|(?:g_)?gettext)\s*\(\s*([A-Za-z_]\w*)\s*\)\Z")
FORWARDS, HANDED_LITERALS = -0.35, -0.25
TOO_WIDE = 0.1
# The conversion of a text, and one into memory that was allocated for it.
FROM_TEXT, ALLOCATED, FROM_STDIN = -0.2, -0.35, 0.2
# A plain argument before the literal; it cannot hide a quote or a comment.
PLAIN = rb"""(?>[^"'/#\\(),;{}]++|\([^"'/#\\(){};]*+\))*+,\s*+"""
LITERAL_AT = tuple(re.compile(rb"[ \t]*+\(\s*+(?:%b){%d}\"" % (PLAIN, index)) for index in range(3))


def check_format(site: Site) -> float | None:
    """Check for a non-constant format; the confidence is highest if there are no other arguments."""
    index = FORMAT_ARGUMENT[site.name]
    spans = site.arguments.spans
    expression = site.masked(index).strip()
    if index >= len(spans) or is_constant(expression) or (index and site.masked(0).lstrip()[:1] == b'"'):
        return None
    origin = provenance(site, _untranslated(expression))
    if origin == "constant":
        return None
    if _is_forwarded(site, index, expression):
        return None
    if site.name[:1] == b"v" or is_in_macro(site):
        return FORWARDS
    if NAME.match(expression) and BufferSizes(site).passed_literal_length(expression):
        return HANDED_LITERALS
    moved = 0.15 if len(spans) == index + 1 else -0.1
    if origin == "mixed":
        moved -= 0.15
    return moved - 0.1 if site.name[:3] in (b"err", b"war") else moved


def _untranslated(expression: bytes) -> bytes:
    """Return the variable in `_(name)`, whose translation is as constant as the text itself."""
    match = TRANSLATED_NAME.match(expression)
    return match[1] if match else expression


def _is_forwarded(site: Site, index: int, expression: bytes) -> bool:
    """Return whether a function like printf passes on its own format, whose arguments the caller gives as well.

    A parameter that is printed without arguments, in a function that takes none, is text from the caller.
    """
    function = site.function
    if function is None or not NAME.match(expression):
        return False
    text = site.source.text
    named = parameters(text[slice(*function.parameters)])
    if expression not in named:
        return False
    given = [site.masked(number).strip() for number in range(index + 1, len(site.arguments.spans))]
    return site.name[:1] == b"v" or (len(given) > 1 and all(one in named for one in given))


def has_literal_format(name: bytes, content: bytes, end: int) -> bool:
    return LITERAL_AT[FORMAT_ARGUMENT[name]].match(content, end) is not None


def check_width(site: Site) -> float | None:
    """Check a literal format for %s or %[ with a missing or too large width, unless skipped or allocated."""
    index = WIDTH_ARGUMENT[site.name]
    literal = pieces(site.masked(index), site.original(index))
    number = index
    for match in CONVERSION.finditer(literal):
        if match["kind"] == b"%" or match["skip"]:
            continue
        number += 1
        if match["kind"] not in b"sS[" or match["allocates"]:
            continue
        if match["width"]:
            if _is_too_wide(site, number, int(match["width"][:9])):
                return TOO_WIDE
        elif not _brings_less(site, number):
            return _without_width(site, number)
    return None


def _without_width(site: Site, number: int) -> float:
    """Return the adjustment of a conversion without width; memory of a computed size was allocated for the text.

    Whoever writes to standard input may overflow an array, as with gets.
    """
    if site.name not in (b"sscanf", b"vsscanf", b"swscanf"):
        is_stdin = site.name in (b"scanf", b"wscanf")
        return FROM_STDIN if is_stdin and BufferSizes(site).capacities(site.masked(number)) else 0.0
    return ALLOCATED if is_made_to_measure(site, BufferSizes(site), site.masked(number)) else FROM_TEXT


def _is_too_wide(site: Site, number: int, width: int) -> bool:
    """Return whether a word of this width and its NUL exceed the size of the array that receives it."""
    capacities = [] if site.name[:1] == b"v" or b"w" in site.name else BufferSizes(site).capacities(site.masked(number))
    return any(Amount.of(width + 1).compared(capacity) == "more" for capacity in capacities)


def _brings_less(site: Site, number: int) -> bool:
    """Return whether the input comes from an array no larger than the one that receives it."""
    if site.name != b"sscanf":
        return False
    scope = BufferSizes(site)
    longest = scope.max_length(site.masked(0)) or scope.length(site.masked(0))
    if longest is None:
        return False
    capacities, needed = scope.capacities(site.masked(number)), longest.plus(Amount.of(1))
    return bool(capacities) and all(needed.compared(capacity) == "no more" for capacity in capacities)


RULES: tuple[Rule, ...] = (
    rule("scanf_no_width", check_width, calls=tuple(name.decode() for name in WIDTH_ARGUMENT)),
    rule(
        "format_string",
        check_format,
        dismisses=has_literal_format,
        calls=tuple(name.decode() for name in FORMAT_ARGUMENT),
    ),
)
