"""Read macros that expand to one expression, or with parameters to statements."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from jarvis_workers.dataflow.frontend.branches import Branches
from jarvis_workers.dataflow.frontend.grammar import Expr, Reading, Stmt
from jarvis_workers.dataflow.frontend.literals import number, string
from jarvis_workers.dataflow.frontend.lowering import ParsedSource, clean, grammar
from jarvis_workers.dataflow.frontend.macro_text import with_expansions, without_operators

NO_BRANCHES = Branches([], [])
# Longer macros are unknown; their effects would take most of the steps of a function.
BODY_MAX, STATEMENTS_MAX = 300, 600
HEAD = re.compile(rb"[ \t]+(\w+)(\([^()\n]{0,200}\))?")
PLAIN = re.compile(rb'[A-Za-z_]\w*|\d[\w.]*|L?"[^"\\]*"')
ONCE = re.compile(rb"do\s*\{(.*?);?\s*\}\s*while\s*\(\s*0\s*\)\s*;?", re.DOTALL)
STATEMENTS = re.compile(rb"[;{]|\bif\b|\bdo\b|\bwhile\b|\bfor\b|\breturn\b|\bgoto\b")
LOOP_HEAD = re.compile(rb"(?:for|while)\s*\([^{}]*[^{};\s]")
PARAMETERS = re.compile(rb"\([^{};#]*\)")
LOOP_EXIT = re.compile(rb"\b(?:break|continue)\b")
NO_VALUE = frozenset(b"if for while do return goto switch case break continue struct union enum typedef else".split())


class Macro(NamedTuple):
    """A `#define`: its name, its parameters if it has a parameter list, and its text on one line."""

    name: str
    params: tuple[bytes, ...] | None
    body: bytes


def defined_macros(
    source: ParsedSource, spans: Iterable[tuple[int, int]], defines: Iterable[str] = ()
) -> dict[str, Macro]:
    """Return the texts of the macros of a file by name, the first definition of each.

    `defines` are definitions on the command line of the compiler, such as `SIZE=8`, which come first.
    """
    texts: dict[str, Macro] = {}
    for found in (*map(_given, defines), *(_read(source, start, end) for start, end in spans)):
        if found is not None:
            texts.setdefault(found.name, found)
    return texts


def lowered_macros(texts: Mapping[str, Macro], *, cpp: bool) -> dict[str, Any]:
    """Return macros by name: an expression or, with parameters, a list of the parameters and an expression or block."""
    blocks = {one.name: (one.params, one.body) for one in texts.values() if one.params and STATEMENTS.search(one.body)}
    lowered = ((one.name, _lowered(one, blocks, cpp=cpp)) for one in texts.values())
    return {name: value for name, value in lowered if value is not None}


def loop_heads(texts: Mapping[str, Macro]) -> dict[str, tuple[tuple[bytes, ...], bytes]]:
    """Return the parameters and texts of the macros that are the head of a loop, whose body follows their call."""
    return {
        one.name: (one.params, one.body)
        for one in texts.values()
        if one.params and len(one.body) <= BODY_MAX and LOOP_HEAD.fullmatch(one.body) and b"#" not in one.body
    }


def parameter_lists(texts: Mapping[str, Macro]) -> dict[bytes, bytes]:
    """Return the texts of the macros that may be the parameter list of a function."""
    return {
        one.name.encode("latin-1"): one.body
        for one in texts.values()
        if one.params is None and len(one.body) <= BODY_MAX and PARAMETERS.fullmatch(one.body)
    }


def _read(source: ParsedSource, start: int, end: int) -> Macro | None:
    head = HEAD.match(source.content, start, end)
    if head is None or end - head.end() > 4 * BODY_MAX:
        return None
    body = b" ".join(_plain(source, head.end(), end).replace(b"\\\n", b" ").replace(b"\\\r\n", b" ").split())
    if not body:
        return None
    params = None
    if head[2] is not None:
        params = tuple([word for word in (word.strip() for word in head[2][1:-1].split(b",")) if word])
        params, body = _with_standard_rest(params, body)
    return Macro(head[1].decode("latin-1"), params, body)


def _with_standard_rest(params: tuple[bytes, ...], body: bytes) -> tuple[tuple[bytes, ...], bytes]:
    """Rename variable arguments that have a name of their own, an extension of GNU."""
    if params and params[-1].endswith(b"...") and (name := params[-1][:-3].strip()):
        return (*params[:-1], b"..."), re.sub(rb"\b" + re.escape(name) + rb"\b", b"__VA_ARGS__", body)
    return params, body


def _given(define: str) -> Macro | None:
    """Return a macro that is given as `NAME`, `NAME=TEXT` or `NAME(PARAMETERS)=TEXT`."""
    name, equals, text = define.partition("=")
    code = f" {name} {text if equals else 1}".encode("utf-8", "surrogateescape")
    return _read(ParsedSource(code, code, NO_BRANCHES, cpp=False), 0, len(code)) if b"\n" not in code else None


def _plain(source: ParsedSource, start: int, end: int) -> bytes:
    part = source.content[start:end]
    if b"/" not in part:
        return part
    return clean(source._replace(branches=NO_BRANCHES), start, end)


def _lowered(one: Macro, blocks: Mapping[str, tuple[tuple[bytes, ...], bytes]], *, cpp: bool) -> Any:
    if one.params is None:
        return _value(one.body, cpp=cpp) if len(one.body) <= BODY_MAX else None
    body = with_expansions(without_operators(one.body, one.params), blocks)
    if body is None or len(body) > STATEMENTS_MAX:
        return None
    value = _value(body, cpp=cpp) if len(body) <= BODY_MAX else None
    if value is None and STATEMENTS.search(body):
        value = _block(body, cpp=cpp)
    return [[word.decode("latin-1") for word in one.params], value] if value is not None else None


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
    match _statements(b"return(" + code + b");", cpp=cpp):
        case [["ret", _, [*value]]] if value != ["x"]:
            return value
    return None


def _block(body: bytes, *, cpp: bool) -> Stmt | None:
    """Return the statements of a macro as a block; None if they make sense in a certain place only, such as a case."""
    once = ONCE.fullmatch(body)
    code = once[1] if once and not LOOP_EXIT.search(body) else body
    statements = _statements(code + b";", cpp=cpp) if b"#" not in code else None
    if not statements or any(tag == "?" for tag, *_ in statements):
        return None
    return ["blk", 0, statements, 0]


def _statements(code: bytes, *, cpp: bool) -> list[Stmt] | None:
    """Return the statements of some code; None if it does not parse."""
    reading = Reading(grammar(cpp=cpp), b"int f(){" + code + b"}", 0)
    statements = None if reading.broken else reading.stmts(reading.root.children[0].children[-1])
    return None if reading.skipped else statements


def _word(body: bytes) -> Expr:
    fixed: dict[bytes, Expr] = {b"NULL": ["null"], b"nullptr": ["null"], b"true": ["n", 1], b"false": ["n", 0]}
    return fixed.get(body, ["v", body.decode("latin-1")])
