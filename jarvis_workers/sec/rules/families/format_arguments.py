"""format_arguments: the arguments of printf and scanf do not fit their literal format, in number or in type."""

import re
from collections.abc import Sequence

from jarvis_workers.sec.rules.analysis.literals import pieces
from jarvis_workers.sec.rules.rule import Rule, Site, rule
from jarvis_workers.source.lazy_regex import lazy

FEWER, TYPE, MORE, WIDE = 0.15, 0.15, -0.1, -0.1
PRINTS = {
    b"printf": 0,
    b"printk": 0,
    b"fprintf": 1,
    b"dprintf": 1,
    b"sprintf": 1,
    b"asprintf": 1,
    b"syslog": 1,
    b"snprintf": 2,
}
SCANS = {b"scanf": 0, b"fscanf": 1, b"sscanf": 1}
FORMAT_ARGUMENT = {**PRINTS, **SCANS}
# A NUL stands for a macro such as PRIu64 after the `%`.
PRINTED = lazy(
    rb"%(?:%|(?P<flags>[-+ #0']*)(?P<width>\*|\d*)(?:\.(?P<precision>\*|-?\d*))?"
    rb"(?P<size>hh|h|ll|l|q|j|z|t|L|I64|I32|I)?(?P<kind>\[(?:\^?\])?[^]]*\]|[A-Za-z\0]))"
)
SCANNED = lazy(
    rb"%(?:%|(?P<skip>\*?)(?P<width>\d*)(?P<size>hh|h|ll|l|q|j|z|t|L|m|I64|I32|I)?(?P<kind>\[\^?\]?[^]]*\]|[A-Za-z\0]))"
)
LITERALS = lazy(rb'\s*(?:L|u8)?(?:"[^"]*"\s*(?:(?:PRI|SCN)\w+\s*)?)+\Z')
# One literal without `*` and `$`, and arguments without literals, sizes and nested commas.
PLAIN_CALL = tuple(
    re.compile(
        rb'[ \t]*+\(\s*+(?>[\w.>*&+-]++,\s*+){%d}"(?P<format>(?>[^"*$\\\n]++|\\.)*+)"'
        rb"(?P<given>(?>,\s*+(?!sizeof|strlen|\d)(?>[\w.>*&+?:\[\] -]++|\([^()\"',#/]*+\))++)*+)\)" % index
    )
    for index in range(3)
)
POSITIONAL = lazy(rb"%\d+\$")
UNKNOWN = lazy(
    rb"#|\.\.\.|__VA_ARGS__|\bVA_ARGS\b|\b[A-Z][A-Z0-9_]{2,}\b|\b[A-Z][A-Z0-9_]*\s*\(|<[^<>()]*,|\bva_\w+|\{"
)
INTEGER = lazy(rb"\(*\s*-?\s*(?:0[xX][0-9a-fA-F]+|\d+)[uUlL]*\s*\)*\Z")
TEXT = lazy(rb'\s*(?:L|u8)?"[^"]*"\s*\Z')
SIZE = lazy(rb"\s*(?:sizeof\b|strlen\s*\()[^-+*/?<>=]*\)?\s*\Z")
INTEGERS = frozenset((b"d", b"i", b"u", b"x", b"X", b"o", b"c"))


def check_arguments(site: Site) -> float | None:
    """Report missing arguments first, then a literal of another type, arguments too many, and sizes printed as int."""
    index = FORMAT_ARGUMENT[site.name]
    spans = site.arguments.spans
    masked = site.masked(index)
    if site.arguments.end is None or index >= len(spans) or not LITERALS.match(masked):
        return None
    text = pieces(masked, site.original(index))
    given = [site.masked(number) for number in range(index + 1, len(spans))]
    if POSITIONAL.search(text) or any(UNKNOWN.search(one) for one in given if not TEXT.match(one)):
        return None
    kinds = _printed(text) if site.name in PRINTS else _scanned(text)
    if kinds is None:
        return None
    if len(given) != len(kinds):
        return FEWER if len(given) < len(kinds) else MORE
    return _of_types(kinds, given) if site.name in PRINTS else None


def fits_plainly(name: bytes, content: bytes, end: int) -> bool:
    """Dismiss a call of plain arguments, one for each conversion of one literal."""
    match = PLAIN_CALL[FORMAT_ARGUMENT[name]].match(content, end)
    if match is None:
        return False
    return match["format"].count(b"%") - 2 * match["format"].count(b"%%") == match["given"].count(b",")


def _printed(text: bytes) -> list[bytes] | None:
    """Return the kind of each argument that a format of printf takes; None if a conversion is unknown."""
    kinds: list[bytes] = []
    for match in PRINTED.finditer(text):
        if match[0] == b"%%" or match["kind"] == b"m":
            continue
        kinds += [b"*"] * (match["width"], match["precision"]).count(b"*")
        kinds.append((match["size"] or b"") + match["kind"])
    return kinds if PRINTED.sub(b"", text).count(b"%") == 0 else None


def _scanned(text: bytes) -> list[bytes] | None:
    kinds = [one["kind"] for one in SCANNED.finditer(text) if one[0] != b"%%" and not one["skip"]]
    return kinds if SCANNED.sub(b"", text).count(b"%") == 0 else None


def _of_types(kinds: Sequence[bytes], given: Sequence[bytes]) -> float | None:
    for kind, argument in zip(kinds, given, strict=True):
        if (kind == b"s" and INTEGER.match(argument)) or (kind in INTEGERS and TEXT.match(argument)):
            return TYPE
    wide = any(kind in (b"d", b"i", b"u", b"x") and SIZE.match(one) for kind, one in zip(kinds, given, strict=True))
    return WIDE if wide else None


RULES: tuple[Rule, ...] = (
    rule(
        "format_arguments",
        check_arguments,
        calls=tuple(name.decode() for name in FORMAT_ARGUMENT),
        dismisses=fits_plainly,
    ),
)
