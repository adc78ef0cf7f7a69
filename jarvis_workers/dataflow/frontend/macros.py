"""Read macros that expand to one expression."""

import re
from typing import Any

from jarvis_workers.dataflow.frontend.branches import Branches
from jarvis_workers.dataflow.frontend.grammar import Expr, Reading
from jarvis_workers.dataflow.frontend.literals import number, string
from jarvis_workers.dataflow.frontend.lowering import ParsedSource, clean, grammar

NO_BRANCHES = Branches([], [])
BODY_MAX = 300
HEAD = re.compile(rb"[ \t]+(\w+)(\([^()\n]{0,200}\))?")
PLAIN = re.compile(rb'[A-Za-z_]\w*|\d[\w.]*|L?"[^"\\]*"')
ONCE = re.compile(rb"do\s*\{(.*?);?\s*\}\s*while\s*\(\s*0\s*\)\s*;?", re.DOTALL)
NO_VALUE = frozenset(b"if for while do return goto switch case break continue struct union enum typedef else".split())


def macro(source: ParsedSource, start: int, end: int) -> tuple[str, Any]:
    """Return the name and expression of a `#define`: [parameters, expression] with parameters, None if unreadable."""
    head = HEAD.match(source.content, start, end)
    if head is None or end - head.end() > 4 * BODY_MAX:
        return "", None
    body = b" ".join(_plain(source, head.end(), end).replace(b"\\\n", b" ").replace(b"\\\r\n", b" ").split())
    if not body or len(body) > BODY_MAX:
        return "", None
    value = _value(body, cpp=source.cpp)
    name = head[1].decode("latin-1")
    if value is None or head[2] is None:
        return name, value
    words = [word.strip().decode("latin-1") for word in head[2][1:-1].split(b",")]
    return name, [[word for word in words if word], value]


def _plain(source: ParsedSource, start: int, end: int) -> bytes:
    part = source.content[start:end]
    if b"/" not in part:
        return part
    return clean(source._replace(branches=NO_BRANCHES), start, end)


def _value(body: bytes, *, cpp: bool) -> Expr | None:
    return _plain_value(body) if PLAIN.fullmatch(body) else _parsed(body, cpp=cpp)


def _plain_value(body: bytes) -> Expr | None:
    """Return the expression of a single name, number or string."""
    text = body.decode("latin-1")
    if body[:1].isdigit():
        value = number(text)
        return value if value != ["x"] else None
    if body[-1:] == b'"':
        return string([text])
    return None if body in NO_VALUE else _word(body)


def _parsed(body: bytes, *, cpp: bool) -> Expr | None:
    once = ONCE.fullmatch(body)
    code = once[1].strip() if once else body.rstrip(b"; ")
    if b";" in code or b"{" in code or b"#" in code:
        return None
    reading = Reading(grammar(cpp=cpp), b"int f(){return(" + code + b");}", 0)
    if reading.broken:
        return None
    match reading.stmts(reading.root.children[0].children[-1]):
        case [["ret", _, [*value]]] if value != ["x"]:
            return value
    return None


def _word(body: bytes) -> Expr:
    fixed: dict[bytes, Expr] = {b"NULL": ["null"], b"nullptr": ["null"], b"true": ["n", 1], b"false": ["n", 0]}
    return fixed.get(body, ["v", body.decode("latin-1")])
