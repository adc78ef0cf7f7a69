"""Lower one function: extract it, blank everything but code, parse it, and assemble its lowered form."""

import re
from functools import cache
from typing import Any, NamedTuple

from jarvis_workers.dataflow.frontend.branches import Branches
from jarvis_workers.dataflow.frontend.cpp_expressions import arguments
from jarvis_workers.dataflow.frontend.declared import VIRTUAL, Declarator, declared, parameters, specified
from jarvis_workers.dataflow.frontend.deferred import with_deferred
from jarvis_workers.dataflow.frontend.expressions import EXPRESSIONS
from jarvis_workers.dataflow.frontend.grammar import DEPTH_MAX, FileNames, Grammar, Node, Reading, Stmt
from jarvis_workers.dataflow.frontend.macro_repair import repair_macros
from jarvis_workers.dataflow.frontend.macro_text import with_loops
from jarvis_workers.dataflow.frontend.places import FunctionPlace
from jarvis_workers.dataflow.frontend.statement_lowering import STATEMENTS
from jarvis_workers.source.c_tokens import BLANK
from jarvis_workers.source.functions import Function
from jarvis_workers.source.grammar_files import ACTION_NAME
from jarvis_workers.source.lex import comments

FUNCTION_MAX = 1 << 20
OUTER_MAX = 8
# Why a function cannot be analyzed, or not all of it: "gap" of its lowered form.
UNREAD = "the parser does not find its body"
TOO_DEEP = f"it is nested deeper than {DEPTH_MAX} levels"
UNPARSED = "unparsed code"
# Of a line with an error, what is looked at on each side: a line may be as long as the file.
LINE_MAX = 500
HIDDEN = re.compile(rb"(?:free|alloc|release|destroy|dispose|\bf?close)\w*+\s*+\(|\bdelete\b|<{7}|>{7}")
ACTION_HEAD = b"static int %b(void) " % ACTION_NAME
SPACE = re.compile(r"\s+")
STATIC = re.compile(rb"\bstatic\b")
PLAIN_HEAD = re.compile(
    rb"(?:\b(?:const|unsigned|signed|long|short|struct|enum|union)\s+)*[A-Za-z_]\w*(?:\s*::\s*\w+)*[\s*&]+\Z"
)


class ParsedSource(NamedTuple):
    """A source file: its content, its masked text, and its directives."""

    content: bytes
    text: bytes
    branches: Branches
    cpp: bool


@cache
def grammar(*, cpp: bool) -> Grammar:
    """Return the grammar of C or C++ with this package's lowering tables."""
    return Grammar(cpp=cpp, expressions=EXPRESSIONS, statements=STATEMENTS)


def clean(source: ParsedSource, start: int, end: int) -> bytes:
    """Return part of a file with comments, directives and excluded branches blanked; its length stays the same."""
    part = source.content[start:end]
    spans = [(first - start, last - start) for first, last in source.branches.blank(start, end)]
    if b"/*" in part or b"//" in part or b"/\\" in part:
        spans.extend(comments(part, "c/cpp"))
    return blanked(part, spans)


def blanked(part: bytes, spans: list[tuple[int, int]]) -> bytes:
    """Replace spans of a text with blanks, keeping line breaks."""
    if not spans:
        return part
    text = bytearray(part)
    for first, last in spans:
        text[first:last] = part[first:last].translate(BLANK)
    return bytes(text)


def function(
    source: ParsedSource, place: FunctionPlace, first_line: int, names: FileNames
) -> tuple[dict[str, Any], Reading]:
    """Return a function's lowered form, and the reading with the types declared in it."""
    end = min(place.function.body[1] + 1, place.start + FUNCTION_MAX)
    part, place = _with_parameters(source, place, clean(source, place.start, end), names)
    part, cleanups = with_deferred(part, first_line, names.cleanups)
    reading, node = _read(source, part, first_line)
    if reading.broken:
        if names.loops:
            part = with_loops(part, names.loops)
            reading, node = _read(source, part, first_line)
        if reading.broken:
            reading, node = _best(source, part, place, (reading, node))
    reading.names, reading.cleanups = names, cleanups
    owner = names.types.get(place.owner.decode("latin-1"))
    if owner:
        reading.declared_names.update(owner["fields"])
    return _model(reading, node, place, static=STATIC.search(part, 0, place.function.start - place.start)), reading


def _with_parameters(
    source: ParsedSource, place: FunctionPlace, part: bytes, names: FileNames
) -> tuple[bytes, FunctionPlace]:
    """Replace a macro that is the parameter list by its text; without parameters if the file does not define it."""
    function = place.function
    if function.is_action:
        return _with_head(place, part)
    start, end = function.parameters
    if source.text[start - 1 : start] == b"(":
        return part, place
    text = names.parameters.get(source.text[start:end], b"()")
    more = len(text) - (end - start)
    body = function.body[0] + more, function.body[1] + more
    function = function._replace(parameters=(start + 1, start + len(text) - 1), body=body)
    return part[: start - place.start] + text + part[end - place.start :], place._replace(function=function)


def _with_head(place: FunctionPlace, part: bytes) -> tuple[bytes, FunctionPlace]:
    """Make a function of an action of a grammar; no other file can call it."""
    first, last = (offset - place.start for offset in place.function.body)
    is_bare = first == 0
    head = ACTION_HEAD + (b"{" if is_bare else b"")
    name = place.start + ACTION_HEAD.index(ACTION_NAME)
    parameters = place.start + ACTION_HEAD.index(b"(") + 1
    body = place.start + first + len(head), place.start + last + len(head)
    part = head + part[: last + (not is_bare)] + (b"}" if is_bare else b"")
    return part, place._replace(function=Function(ACTION_NAME, name, (parameters, parameters + 4), body))


def _read(source: ParsedSource, part: bytes, first_line: int) -> tuple[Reading, Node | None]:
    reading = Reading(grammar(cpp=source.cpp), part, first_line)
    return reading, _definition(reading.root)


def _best(
    source: ParsedSource, part: bytes, place: FunctionPlace, first: tuple[Reading, Node | None]
) -> tuple[Reading, Node | None]:
    """Parse the function again after repairs; return the reading with the fewest errors."""
    reading, node = first
    best = (_errors(reading.root, node), first)
    if node is None or _is_broken_before_body(node):
        part = _with_plain_head(part, place)
    again = repair_macros(part)
    for text in (again, part):
        if best[0] == 0 or text == reading.source:
            continue
        reading_result = _read(source, text, reading.first_line)
        errors = _errors(reading_result[0].root, reading_result[1]) if reading_result[1] else best[0]
        if errors < best[0] or (best[1][1] is None and reading_result[1]):
            best = (errors, reading_result)
    return best[1]


def _definition(root: Node, depth: int = 0) -> Node | None:
    """Return the last function definition at the top level."""
    for child in reversed(root.named_children):
        kind = child.type
        if kind == "function_definition":
            return child
        if kind in ("template_declaration", "linkage_specification", "declaration_list", "ERROR"):
            definition = _definition(child, depth + 1) if depth < OUTER_MAX else None
            if definition is not None:
                return definition
    return None


def _is_broken_before_body(node: Node) -> bool:
    children = node.children
    return any(child.is_error or child.is_missing or child.has_error for child in children[:-1])


def _with_plain_head(part: bytes, place: FunctionPlace) -> bytes:
    """Blank everything in the head of a function except its type, name and parameters."""
    name = place.function.start - place.start
    body = place.function.body[0] - 1 - place.start
    _opened, closed = (at - place.start for at in place.function.parameters)
    head = PLAIN_HEAD.search(part, 0, name)
    first = head.start() if head else name
    return b"%b%b%b%b" % (
        part[:first].translate(BLANK),
        part[first : closed + 1],
        part[closed + 1 : body].translate(BLANK),
        part[body:],
    )


def name_of(place: FunctionPlace) -> str:
    """Return the name of a function; a method is named `class::method`."""
    name = SPACE.sub("", place.function.name.decode("latin-1"))
    return f"{place.owner.decode('latin-1')}::{name}" if place.owner else name


def _model(reading: Reading, node: Node | None, place: FunctionPlace, *, static: object) -> dict[str, Any]:
    lines = reading.source.count(b"\n")
    model: dict[str, Any] = {
        "name": name_of(place),
        "line": reading.first_line,
        "end": reading.first_line + lines,
        "static": static is not None,
        "params": [],
        "init": [],
        "body": [["?", reading.first_line]],
        "calls": [],
        "bad": 1,
    }
    if node is not None:
        _fill(model, reading, node)
        if reading.broken:
            _skip_errors(reading, node)
    if node is None or reading.cut:
        model["gap"] = TOO_DEEP if reading.cut else UNREAD
    return model


def hides_release(code: bytes, start: int, end: int) -> bool:
    """Return whether lines that do not parse allocate or release something, or are those of a conflict."""
    first = code.rfind(b"\n", max(0, start - LINE_MAX), start)
    last = code.find(b"\n", end, end + LINE_MAX)
    first, last = first if first >= 0 else start - LINE_MAX, last if last >= 0 else end + LINE_MAX
    return HIDDEN.search(code, max(0, first), last) is not None


def _skip_errors(reading: Reading, node: Node) -> None:
    """Record the code of a function that does not parse, and what follows the definition that does."""
    left, hidden = [node], False
    body = node.children[-1].start_byte
    while left:
        at = left.pop()
        if at.is_error or at.is_missing:
            # Without a semicolon, it may be a macro; in the head, it is no call.
            start, end = at.start_byte, at.end_byte
            # The first that hides something stands for the whole function.
            hides = not hidden and at.type != ";" and start > body and hides_release(reading.source, start, end)
            hidden |= hides
            if hides or b";" in reading.source[start:end]:
                reading.skip(UNPARSED, at)
        elif at.has_error:
            left.extend(at.children)
    if b";" in reading.source[node.end_byte :]:
        reading.skipped.append((UNPARSED, node.end_byte, len(reading.source)))


def _fill(model: dict[str, Any], reading: Reading, node: Node) -> None:
    model["line"] = reading.line(node)
    of = specified(reading, reading.children(node))
    old: list[Stmt] = []
    body: Node | None = None
    for child in of.rest:
        kind = child.type
        if kind == "compound_statement":
            body = child
        elif kind == "field_initializer_list":
            model["init"] = _initializers(reading, child)
        elif kind == "declaration":
            reading.add(child, old)
        elif kind == "try_statement":
            model["body"] = reading.listed([child])
        elif kind.endswith("declarator"):
            declarator = declared(reading, child, of)
            if declarator.function is not None:
                model["params"] = parameters(reading, declarator.function)
            if reading.cpp and (returns := _returns(model["name"], reading, node, declarator)):
                model["returns"] = returns
    _take_old_types(model["params"], old)
    reading.declared_names.update(name for name, _, _ in model["params"])
    if body is not None:
        model["body"] = reading.stmts(body)
    model["calls"] = sorted(reading.calls)
    model["bad"] = reading.cut + (max(0, _errors(reading.root, node) - reading.understood) if reading.broken else 0)


def _returns(name: str, reading: Reading, node: Node, declarator: Declarator) -> str:
    """Return the type of a function's result; of a destructor, "virtual" if it is."""
    if "~" in name:
        head = reading.text[node.start_byte : node.children[-1].start_byte]
        return "virtual" if VIRTUAL.search(head) else ""
    return "" if declarator.type in ("void", "int", "bool") else declarator.type


def _initializers(reading: Reading, node: Node) -> list[Any]:
    result = []
    for child in reading.children(node):
        if child.type == "field_initializer":
            inner = reading.children(child)
            name = reading.word(inner[0]).partition("<")[0].strip() if inner else ""
            result.append([name, arguments(reading, inner[-1])])
    return result


def _take_old_types(params: list[list[Any]], old: list[Stmt]) -> None:
    """Apply the types of a K&R definition, which are declared between the head and the body."""
    types = {name: (kind, dims) for tag, _, *rest in old if tag == "d" for name, kind, dims, *_ in (rest,)}
    for param in params:
        name, *_ = param
        if name in types:
            kind, dims = types[name]
            param[1:] = [kind + "*" if dims else kind, dims[1:]]


def _errors(root: Node, node: Node | None) -> int:
    """Count the parse errors from the beginning of the function on."""
    count = 0
    start = node.start_byte if node else 0
    left = [root]
    while left:
        at = left.pop()
        if at.is_error or at.is_missing:
            count += at.end_byte > start
        elif at.has_error and at.end_byte > start:
            left.extend(at.children)
    return count
