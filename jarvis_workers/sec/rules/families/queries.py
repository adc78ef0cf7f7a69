"""sql_built: an SQL query is built by concatenation, with values between the keywords.

Numbers cannot change the meaning of a query, nor can constant table names.
"""

import re

from jarvis_workers.sec.rules.analysis.literals import is_constant, pieces, provenance
from jarvis_workers.sec.rules.rule import Rule, Site, rule
from jarvis_workers.source.lazy_regex import lazy

QUOTED, JOINED, AS_NAME = 0.15, 0.0, -0.15
FORMATS = {
    name: index
    for index, names in enumerate(
        (b"", b"sprintf asprintf vsprintf wsprintf swprintf", b"snprintf vsnprintf _snprintf _snwprintf sprintf_s", b"")
    )
    for name in names.split()
}
QUERY = lazy(
    rb"\s*+(?:SELECT\s[^;]{0,300}?\sFROM\s|INSERT\s+INTO\s|UPDATE\s+\S+\s+SET\s|DELETE\s+FROM\s|DROP\s+TABLE\s"
    rb"|select\s[^;]{0,300}?\sfrom\s|insert\s+into\s|update\s+\S+\s+set\s|delete\s+from\s|drop\s+table\s)"
)
LIKELY = lazy(rb'"\s*(?:SELECT|INSERT|UPDATE|DELETE|DROP|select|insert|update|delete|drop)\s')
BEGUN = lazy(rb'"' + QUERY.pattern)
VALUE_BEHIND = lazy(rb'"\s*+\+\s*+([A-Za-z_][^;"+]*+)')
STATEMENT_MAX, FORMAT_WITHIN = 800, 160
VALUE = lazy(rb"%[-+ #0]*\*?\d*(?:\.\d+|\.\*)?(?:l?s|S)")
NAMES = lazy(rb"(?i:FROM|INTO|UPDATE|TABLE|JOIN|SELECT|SET)\s+[\"`]?%s")
ESCAPED = lazy(rb"(?i:escape|quote|sanit|to_string|itoa|str\(\s*\)\.size)")


def is_no_query(name: bytes, content: bytes, end: int) -> bool:
    if not name:
        return content[end - 1 : end] != b"'"
    return LIKELY.search(content, end, end + FORMAT_WITHIN) is None


def check_query(site: Site) -> float | None:
    return _formatted(site) if site.name else _joined(site)


def _formatted(site: Site) -> float | None:
    """Check a literal format that begins as an SQL statement; the confidence is highest for a %s between quotes."""
    index = FORMATS[site.name]
    literal = pieces(site.masked(index), site.original(index))
    if not QUERY.match(literal):
        return None
    number, worst = index, None
    for match in re.finditer(rb"%%|%[-+ #0]*\*?\d*(?:\.\d+|\.\*)?(?:hh|h|ll|l|q|j|z|t|L)?[A-Za-z]", literal):
        if match[0] == b"%%":
            continue
        number += 1
        expression = site.masked(number).strip()
        if not VALUE.fullmatch(match[0]) or is_constant(expression) or ESCAPED.search(expression):
            continue
        if provenance(site, expression) == "constant":
            continue
        worst = max(worst or AS_NAME, QUOTED if _in_quotes(literal, match.start()) else _bare(literal, match.start()))
    return worst


def _joined(site: Site) -> float | None:
    """Check for `"SELECT id FROM user WHERE name = '" + name`, where the `'` shows that a string value follows."""
    text, content = site.source.text, site.source.content
    floor = max(0, site.start - STATEMENT_MAX)
    start = max(floor, *(text.rfind(edge, floor, site.start) + 1 for edge in (b";", b"{", b"}")))
    value = VALUE_BEHIND.match(content, site.start)
    if value is None or ESCAPED.search(value[1]) or value[1].isupper():
        return None
    return QUOTED if BEGUN.search(content, start, site.start) else None


def _in_quotes(literal: bytes, at: int) -> bool:
    return literal.count(b"'", 0, at) % 2 == 1


def _bare(literal: bytes, at: int) -> float:
    return AS_NAME if NAMES.search(literal, max(0, at - 16), at + 2) else JOINED


RULES: tuple[Rule, ...] = (
    rule(
        "sql_built",
        check_query,
        calls=tuple(name.decode() for name in FORMATS),
        shapes=(r'" ?\+ ?',),
        dismisses=is_no_query,
    ),
)
