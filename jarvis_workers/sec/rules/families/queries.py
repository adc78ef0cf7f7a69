"""sql_built: an SQL query is built by concatenation, with values between the keywords.

Numbers cannot change the meaning of a query, nor can constant table names.
"""

import re

from jarvis_workers.sec.rules.analysis.literals import is_constant, pieces, provenance
from jarvis_workers.sec.rules.rule import Rule, Site
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
    held = pieces(site.masked(index), site.original(index))
    if not QUERY.match(held):
        return None
    number, worst = index, None
    for match in re.finditer(rb"%%|%[-+ #0]*\*?\d*(?:\.\d+|\.\*)?(?:hh|h|ll|l|q|j|z|t|L)?[A-Za-z]", held):
        if match[0] == b"%%":
            continue
        number += 1
        given = site.masked(number).strip()
        if not VALUE.fullmatch(match[0]) or is_constant(given) or ESCAPED.search(given):
            continue
        if provenance(site, given) == "constant":
            continue
        worst = max(worst or AS_NAME, QUOTED if _in_quotes(held, match.start()) else _bare(held, match.start()))
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


def _in_quotes(held: bytes, at: int) -> bool:
    return held.count(b"'", 0, at) % 2 == 1


def _bare(held: bytes, at: int) -> float:
    return AS_NAME if NAMES.search(held, max(0, at - 16), at + 2) else JOINED


RULES: tuple[Rule, ...] = (
    Rule(
        "sql_built",
        category="input_validation",
        cwe=89,
        confidence=0.65,
        check=check_query,
        calls=tuple(name.decode() for name in FORMATS),
        shapes=(r'" ?\+ ?',),
        dismisses=is_no_query,
        title="SQL query built from text",
        description="A value that contains a quote ends its string literal, and the rest is parsed as SQL.",
        suggestion="Prepare the statement with a placeholder for each value, and bind the values.",
        verification="An attacker can control the value, and nothing escapes it.",
        bad="snprintf(query, sizeof query, \"SELECT id FROM user WHERE name = '%s'\", name);",
        good='sqlite3_prepare_v2(db, "SELECT id FROM user WHERE name = ?", -1, &query, NULL);',
    ),
)
