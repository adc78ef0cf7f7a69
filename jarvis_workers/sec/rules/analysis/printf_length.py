"""Bounds on the output length of a printf call, from its format and arguments."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from jarvis_workers.sec.rules.analysis.buffer_sizes import BufferSizes
from jarvis_workers.sec.rules.analysis.literals import is_constant, pieces
from jarvis_workers.sec.rules.analysis.symbolic_sizes import literal_length
from jarvis_workers.sec.rules.rule import Site
from jarvis_workers.source.lazy_regex import lazy

CONVERSION = lazy(
    rb"""%(?:(?P<percent>%)
    | [-+\ \#0']*+(?P<width>\*|\d*)(?:\.(?P<precision>\*|\d*))?(?P<size>hh|h|ll|l|q|j|z|t|L)?(?P<kind>[A-Za-z]))""",
    re.VERBOSE,
)
LITERALS = lazy(rb'(?>"[^"]*+"\s*+)++\Z')
QUOTED = lazy(rb'"([^"]*)"')
# Maximum length of a number in characters, by the width of its type: hh, h, int, and longer.
DIGITS = {b"hh": (4, 3, 2, 3), b"h": (6, 5, 4, 6), b"": (11, 10, 8, 11)}
LONG_DIGITS = (20, 20, 16, 22)
KINDS = {b"d": 0, b"i": 0, b"u": 1, b"x": 2, b"X": 2, b"o": 3}
PREFIX = 2
POINTER = 18
WIDTH_MAX = 1 << 20


class Printed(NamedTuple):
    """Minimum and maximum number of characters without the NUL; the maximum is None if unlimited."""

    least: int
    most: int | None


def printed_length(site: Site, format_index: int) -> Printed | None:
    """Return the length of the output, or None for a format that is not a literal."""
    masked = site.masked(format_index).strip()
    if not LITERALS.match(masked):
        return None
    literal = pieces(masked, site.original(format_index).strip())
    least = literal_length(CONVERSION.sub(b"", literal))
    most: int | None = least
    scope = BufferSizes(site)
    for low, high in _conversions(site, scope, literal, format_index + 1):
        least += low
        most = None if most is None or high is None else most + high
    return Printed(least, most)


def _conversions(site: Site, scope: BufferSizes, literal: bytes, index: int) -> Iterator[tuple[int, int | None]]:
    for match in CONVERSION.finditer(literal):
        if match["percent"]:
            yield 1, 1
            continue
        stars = (match["width"], match["precision"]).count(b"*")
        low, high = _converted(site, scope, match, index + stars)
        width = match["width"]
        if width == b"*":
            yield low, None
        else:
            wide = min(int(width or b"0"), WIDTH_MAX)
            yield max(low, wide), None if high is None else max(high, wide)
        index += stars + 1


def _converted(site: Site, scope: BufferSizes, match: re.Match[bytes], index: int) -> tuple[int, int | None]:
    kind, size, precision = match["kind"], match["size"] or b"", match["precision"]
    if kind in KINDS:
        digits = DIGITS.get(size, LONG_DIGITS)[KINDS[kind]] + (PREFIX if b"#" in match[0] else 0)
        return 1, None if precision == b"*" else max(digits, min(int(precision or b"0"), WIDTH_MAX) + 1)
    if kind == b"c":
        return 1, 1 if not size else None
    if kind == b"p":
        return 1, POINTER
    if kind == b"s":
        return _string(site, scope, precision, index)
    return (1, None) if kind in b"fFgGeEaA" else (0, None)


def _string(site: Site, scope: BufferSizes, precision: bytes | None, index: int) -> tuple[int, int | None]:
    argument = site.masked(index)
    exact = scope.length(argument)
    length = exact.number if exact else None
    limit = int(precision) if precision and precision.isdigit() and len(precision) < len(str(WIDTH_MAX)) else None
    if length is not None:
        shown = length if limit is None else min(length, limit)
        return shown, shown
    if is_constant(argument) and (choices := _choices(argument, site.original(index))):
        return min(choices), max(choices)
    if limit is not None:
        return 0, limit
    longest = scope.max_length(argument)
    return 0, None if longest is None or precision == b"*" else longest.number


def _choices(masked: bytes, original: bytes) -> list[int]:
    """Return the length of each literal of `a ? "yes" : "no"`."""
    return [literal_length(original[match.start(1) : match.end(1)]) for match in QUOTED.finditer(masked)]
