"""Constant strings: decide from nearby text whether a C expression is one.

Constants are literals, upper-case macros and their concatenations, translations of literals, a conditional choice
of constants, and a variable to which only constants are assigned in the preceding text.
"""

import re

from jarvis_workers.sec.rules.rule import Site
from jarvis_workers.source.lazy_regex import lazy

REACH = 8_192
MENTIONS_MAX = 24
CHOICES_MAX = 16
# Adjacent words can only be concatenated literals.
SIDE_BY_SIDE = lazy(rb"[A-Z_][A-Z0-9_]++\s++[\w\"]")
NUMBER_OR_NULL = lazy(rb"\(*\s*(?:NULL|nullptr|0)\s*\)*\Z")
MACRO = lazy(rb"\(*+(?>(?:[A-Z_][A-Z0-9_]++(?![a-z])(?>\s*+\([^()]*+\))?+|(?:PRI|SCN)\w++)\s*+)++\)*+\Z")
PASTED = lazy(
    rb"""(?=(?>[^"()]++|\([^()]*+\))*+")(?>(?:(?:u8|[LuU])?"[^"]*+"|\#{0,2}\w++(?:\s*+\([^()]*+\))?)\s*+)++\Z"""
)
TRANSLATED = lazy(
    rb"(?:_|N_|Q_|T_|_T|TEXT|tr|i18n|(?:g_)?d?c?n?gettext|gettext_noop|pgettext|C_)\s*\([^\"]*\"", re.DOTALL
)
NUMBERS = lazy(rb"(?:\bstd\s*::\s*)?\bto_string\s*\([^()]*+(?>\([^()]*+\)[^()]*+)*+\)")
NAME = lazy(rb"[A-Za-z_]\w*\Z")
ELEMENT = lazy(rb"([A-Za-z_]\w*)\s*(?:\[[^\]]*\]\s*)+\Z")
ASSIGNMENT = lazy(rb"\s*(?:\[[^\]]*\]\s*)*=(?!=)\s*")
QUOTED = lazy(rb'"[^"]*"')
# The address of an element of a literal.
OFFSET = lazy(rb'&\s*+("[^&\[\]]*+)\[[^\[\]]*+\]\Z')
CHOICE = lazy(rb"([?:])")


def is_constant(expression: bytes) -> bool:
    """Return whether an expression, given as masked text, is a constant string."""
    if b"to_string" in expression:
        expression = NUMBERS.sub(b'""', expression).replace(b"+", b" ")
    expression = _bare(expression)
    offset = OFFSET.match(expression)
    if offset is not None:
        expression = offset[1]
    if not expression:
        return False
    if b"?" in expression and expression.count(b"?") <= CHOICES_MAX:
        return _chooses_constants(expression)
    return any(shape.match(expression) for shape in (PASTED, SIDE_BY_SIDE, MACRO, NUMBER_OR_NULL, TRANSLATED))


def provenance(site: Site, expression: bytes) -> str:
    """Return whether the values assigned to a variable before the site are "constant", "mixed" or "unknown"."""
    name = _variable(_bare(expression))
    if name is None:
        return "unknown"
    text, end = site.source.text, site.start
    floor = max(0, end - REACH)
    seen: set[bool] = set()
    for _ in range(MENTIONS_MAX):
        end = text.rfind(name, floor, end)
        if end < 0:
            break
        behind = end + len(name)
        assigned = ASSIGNMENT.match(text, behind, behind + 128)
        if assigned and not _is_part(text, end):
            seen.add(_is_constant_value(text, assigned.end()))
    if seen == {True}:
        return "constant"
    return "mixed" if True in seen else "unknown"


def pieces(masked: bytes, original: bytes) -> bytes:
    """Return the contents of the literals of an expression, with a NUL between literals that other code separates."""
    content = bytearray()
    last = 0
    for match in QUOTED.finditer(masked):
        between = masked[last : match.start()].strip()
        if last and between:
            content += b"\0"
        content += original[match.start() + 1 : match.end() - 1]
        last = match.end()
    return bytes(content)


def _bare(expression: bytes) -> bytes:
    expression = expression.replace(b"\\\n", b" ").strip()
    while expression[:1] == b"(" and expression[-1:] == b")" and expression.find(b")") == len(expression) - 1:
        expression = expression[1:-1].strip()
    return expression


def _chooses_constants(expression: bytes) -> bool:
    parts = CHOICE.split(expression)
    ends = [part for part, mark in zip(parts[::2], [*parts[1::2], b""], strict=True) if mark != b"?"]
    return all(is_constant(part.strip(b" \t\r\n()")) for part in ends)


def _variable(expression: bytes) -> bytes | None:
    if NAME.match(expression):
        return expression
    element = ELEMENT.match(expression)
    return element[1] if element else None


def _is_part(text: bytes, start: int) -> bool:
    """Return whether the name at `start` is the suffix of a longer name, or a member of another object."""
    before = text[max(0, start - 1) : start]
    return before.isalnum() or before in (b".", b">", b"_")


def _is_constant_value(text: bytes, start: int) -> bool:
    if text[start : start + 1] == b"{":
        return b'"' in text[start : start + 256] or b"'" in text[start : start + 256]
    value = text[start : start + 512].partition(b";")[0]
    return is_constant(value) or is_constant(value.partition(b",")[0])
