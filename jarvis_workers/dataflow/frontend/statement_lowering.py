"""Lower statements; a declaration becomes one statement per name.

Macros that look like statements are lowered as what they usually are: a loop if a body follows, else a call.
"""

from jarvis_workers.dataflow.frontend.cpp_expressions import construction
from jarvis_workers.dataflow.frontend.declared import TYPES, Declarator, Specified, declared, specified, type_name
from jarvis_workers.dataflow.frontend.deferred import MARK, release_of
from jarvis_workers.dataflow.frontend.grammar import NO_SEMICOLON, AddStmts, Expr, Node, Reading, Stmt
from jarvis_workers.dataflow.frontend.switches import after, condition_of, stray_case, switch


def _block(reading: Reading, node: Node, out: list[Stmt]) -> None:
    end = reading.first_line + node.end_point[0]
    out.append(["blk", reading.line(node), reading.listed(node.children), end])


def _expression(reading: Reading, node: Node, out: list[Stmt]) -> None:
    children = reading.children(node)
    first = children[0] if children else node
    if not first.is_named:
        return
    if first.type == "gnu_asm_expression":
        out.append(["?", reading.line(node)])
        return
    if reading.broken and children[-1].is_missing and _is_macro(reading, first, out):
        reading.understood += 1
        return
    out.append(["e", reading.line(node), reading.expr(first)])


def _is_macro(reading: Reading, call: Node, out: list[Stmt]) -> bool:
    """Add a marker for `NAME(...)` without a semicolon; the next statement may be its body: see `with_bodies`."""
    if call.type != "call_expression":
        return False
    out.append(["macro", reading.line(call), reading.expr(call)])
    return True


def _declaration(reading: Reading, node: Node, out: list[Stmt]) -> None:
    children = reading.children(node)
    of = specified(reading, children)
    line = reading.line(node)
    rest = of.rest
    if children and children[0].type == "macro_type_specifier" and rest and rest[0].type == "function_declarator":
        _macro_and_call(reading, children[0], rest[0], out)
        return
    for place, child in enumerate(rest):
        kind = child.type
        if kind == "init_declarator":
            _initialized(reading, child, of, out)
        elif kind == "structured_binding_declarator":
            _bindings(reading, child, of, out)
        elif kind == "identifier" or kind.endswith("declarator"):
            declarator = declared(reading, child, of)
            if declarator.function is not None:
                _like_a_call(reading, declarator, of, out)
                continue
            has_initializer = place + 2 < len(rest) and rest[place + 1].type == "="
            _declare(reading, declarator, of, out, line, reading.expr(rest[place + 2]) if has_initializer else None)
            if has_initializer:
                return


def _macro_and_call(reading: Reading, macro: Node, call: Node, out: list[Stmt]) -> None:
    """Lower `NAME(x)` without a semicolon and the call after it, which parse as a type and a function."""
    for node, nodes in ((macro, macro.children[2:-1]), (call, call.children[-1].children)):
        name = reading.word(node.children[0])
        line = reading.line(node)
        reading.calls.add(name)
        if node is macro and name.endswith("free"):
            reading.skip(NO_SEMICOLON, node)
        values: list[Expr] = [["x"] for child in nodes if child.is_named]
        reading.forgive(node.children[-1])
        out.append(["e", line, ["c", ["v", name], values, line]])


def _declare(
    reading: Reading, declarator: Declarator, of: Specified, out: list[Stmt], line: int, value: Expr | None
) -> None:
    flags = of.flags.replace("c", "") + ("c" if declarator.constant else "") + ("e" if "extern" in of.words else "")
    if (line, declarator.name) in reading.cleanups:
        out.append(release_of(reading.cleanups[line, declarator.name], declarator.name, line))
    reading.declared_names.add(declarator.name)
    out.append(["d", line, declarator.name, declarator.type, declarator.dims, value, flags])


def _initialized(reading: Reading, node: Node, of: Specified, out: list[Stmt]) -> None:
    children = reading.children(node)
    line = reading.line(node)
    if len(children) < 2:
        return
    if children[0].type == "structured_binding_declarator":
        out.append(["e", line, reading.expr(children[-1])])
        _bindings(reading, children[0], of, out)
        return
    declarator = declared(reading, children[0], of)
    reading.declared_names.add(declarator.name)
    last = children[-1]
    value = reading.expr(last) if children[1].type == "=" else construction(reading, declarator.type, last)
    _declare(reading, declarator, of, out, line, value)


def _bindings(reading: Reading, node: Node, of: Specified, out: list[Stmt]) -> None:
    for child in node.named_children:
        if child.type == "identifier":
            name = Declarator(reading.word(child), "auto", [], "c" in of.flags, None)
            _declare(reading, name, of, out, reading.line(node), ["x"])


def _like_a_call(reading: Reading, declarator: Declarator, of: Specified, out: list[Stmt]) -> None:
    """Lower `T name(a, b);` as the construction of an object, unless it declares a function."""
    function = declarator.function
    assert function is not None
    arguments = next((child for child in function.named_children if child.type == "parameter_list"), None)
    if arguments is None or not reading.cpp or "s" in of.flags or "extern" in of.words:
        return
    values = [_as_value(reading, child) for child in arguments.named_children]
    if values and None not in values:
        if reading.broken:
            reading.forgive(arguments)
        value = ["ctor", declarator.type, values]
        _declare(reading, declarator._replace(function=None), of, out, reading.line(function), value)


def _as_value(reading: Reading, parameter: Node) -> Expr | None:
    if parameter.is_error:
        inner = parameter.named_children
        return reading.expr(inner[0]) if len(inner) == 1 else ["x"]
    children = reading.children(parameter)
    if len(children) == 1 and children[0].type in ("type_identifier", "qualified_identifier"):
        name = reading.word(children[0])
        return ["v", name] if reading.knows(name) or name.islower() else None
    return None


def _if(reading: Reading, node: Node, out: list[Stmt]) -> None:
    children = [child for child in reading.children(node) if child.is_named]
    if len(children) < 2:
        out.append(["?", reading.line(node)])
        return
    before: list[Stmt] = []
    condition = condition_of(reading, children[0], before)
    then = reading.stmts(children[1])
    otherwise: list[Stmt] = []
    if len(children) > 2 and children[2].type == "else_clause":
        nodes = [child for child in reading.children(children[2]) if child.is_named]
        otherwise = reading.stmts(nodes[0]) if nodes else []
    if condition == ["n", MARK]:
        out.append(["defer", reading.line(node), then])
        return
    after(reading, node, before, ["if", reading.line(node), condition, then, otherwise], out)


def _while(reading: Reading, node: Node, out: list[Stmt]) -> None:
    children = [child for child in reading.children(node) if child.is_named]
    line = reading.line(node)
    if len(children) < 2:
        out.append(["?", line])
        return
    before: list[Stmt] = []
    condition = condition_of(reading, children[0], before)
    match before:
        case [*_, ["d", at, name, kind, dims, value, flags]] if value is not None:
            before[-1] = ["d", at, name, kind, dims, None, flags]
            condition = ["=", "", ["v", name], value, line]
    loop = ["loop", line, "while", [], condition, None, reading.stmts(children[1])]
    after(reading, node, before, loop, out)


def _do(reading: Reading, node: Node, out: list[Stmt]) -> None:
    children = [child for child in reading.children(node) if child.is_named]
    if len(children) < 2:
        out.append(["?", reading.line(node)])
        return
    body = reading.stmts(children[0])
    out.append(["loop", reading.line(node), "do", [], reading.expr(children[1]), None, body])


def _for(reading: Reading, node: Node, out: list[Stmt]) -> None:
    init: list[Stmt] = []
    parts: list[Expr | None] = [None, None, None]
    place = 0
    children = reading.children(node)
    for child in children[2:-1]:
        kind = child.type
        if kind in (";", ")"):
            place += 1
        elif kind in ("declaration", "init_statement"):
            reading.add(child, init)
            place += 1
        elif child.is_named and place < 3:
            if place == 0:
                init.append(["e", reading.line(child), reading.expr(child)])
            else:
                parts[place] = reading.expr(child)
    body = reading.stmts(children[-1])
    out.append(["loop", reading.line(node), "for", init, parts[1], parts[2], body])


def _each(reading: Reading, node: Node, out: list[Stmt]) -> None:
    children = reading.children(node)
    colon = next((place for place, child in enumerate(children) if child.type == ":"), 0)
    before: list[Stmt] = []
    start = 2
    if len(children) > 2 and children[2].type == "init_statement":
        before, start = reading.listed(children[2].children), 3
    of = specified(reading, children[start:colon])
    if not of.rest or len(children) < colon + 4:
        out.append(["?", reading.line(node)])
        return
    declarator = declared(reading, of.rest[0], of)
    reading.declared_names.add(declarator.name)
    over = reading.expr(children[colon + 1])
    loop = ["each", reading.line(node), declarator.name, declarator.type, over, reading.stmts(children[-1])]
    after(reading, node, before, loop, out)


def _return(reading: Reading, node: Node, out: list[Stmt]) -> None:
    children = [child for child in reading.children(node) if child.is_named]
    out.append(["ret", reading.line(node), reading.expr(children[0]) if children else None])


def _plain(tag: str) -> AddStmts:
    return lambda reading, node, out: out.append([tag, reading.line(node)])


def _goto(reading: Reading, node: Node, out: list[Stmt]) -> None:
    children = reading.children(node)
    named = children[1] if len(children) > 1 else node
    if named.type == "statement_identifier":
        out.append(["goto", reading.line(node), reading.word(named)])
    else:
        out.append(["?", reading.line(node)])


def _labeled(reading: Reading, node: Node, out: list[Stmt]) -> None:
    children = reading.children(node)
    out.append(["lab", reading.line(node), reading.word(children[0]) if children else ""])
    for child in children[2:]:
        reading.add(child, out)


def _throw(reading: Reading, node: Node, out: list[Stmt]) -> None:
    children = [child for child in reading.children(node) if child.is_named]
    out.append(["throw", reading.line(node), reading.expr(children[0]) if children else None])


def _try(reading: Reading, node: Node, out: list[Stmt]) -> None:
    body: list[Stmt] = []
    handlers: list[list[Stmt]] = []
    last: list[Stmt] = []
    for child in reading.children(node):
        if child.type == "compound_statement":
            body = reading.stmts(child)
        elif child.type in ("catch_clause", "seh_except_clause"):
            handlers.append(_handler(reading, child))
        elif child.type == "seh_finally_clause":
            last = _handler(reading, child)
    out.append(["try", reading.line(node), body, handlers])
    out += last


def _handler(reading: Reading, node: Node) -> list[Stmt]:
    out: list[Stmt] = []
    for child in reading.children(node):
        if child.type == "parameter_list":
            for caught in child.named_children:
                if caught.type == "parameter_declaration":
                    of = specified(reading, reading.children(caught))
                    if of.rest and not of.rest[0].type.startswith("abstract"):
                        _declare(reading, declared(reading, of.rest[0], of), of, out, reading.line(node), ["x"])
        elif child.type == "compound_statement":
            out.extend(reading.stmts(child))
    return out


def _inner(reading: Reading, node: Node, out: list[Stmt]) -> None:
    for child in node.children:
        reading.add(child, out)


def _noted_type(reading: Reading, node: Node, out: list[Stmt]) -> None:
    type_name(reading, node, node.type)


def _typedef(reading: Reading, node: Node, out: list[Stmt]) -> None:
    for child in reading.children(node):
        if child.type in TYPES:
            type_name(reading, child, child.type)


def _nested(reading: Reading, node: Node, out: list[Stmt]) -> None:
    """Lower a function definition inside a function: one without a return type is a macro with a body."""
    children = reading.children(node)
    body = children[-1] if children else node
    shape = children[0].type if children else ""
    called = len(children) == 2 and shape in ("function_declarator", "type_identifier")
    called = called or (len(children) == 3 and children[1].type == "parenthesized_declarator")
    if body.type == "compound_statement" and called:
        out.append(["loop", reading.line(node), "while", [], ["x"], None, reading.stmts(body)])
    else:
        reading.skip("nested function", body)
        out.append(["?", reading.line(node)])


def _error(reading: Reading, node: Node, out: list[Stmt]) -> None:
    """Mark a statement that does not parse as unknown, and keep the statements in it that do."""
    out.append(["?", reading.line(node)])
    for child in node.named_children:
        if child.type not in ("ERROR", "identifier"):
            reading.add(child, out)


STATEMENTS: dict[str, AddStmts] = {
    "compound_statement": _block,
    "expression_statement": _expression,
    "declaration": _declaration,
    "if_statement": _if,
    "while_statement": _while,
    "do_statement": _do,
    "for_statement": _for,
    "for_range_loop": _each,
    "switch_statement": switch,
    "case_statement": stray_case,
    "return_statement": _return,
    "co_return_statement": _return,
    "break_statement": _plain("brk"),
    "continue_statement": _plain("cont"),
    "goto_statement": _goto,
    "labeled_statement": _labeled,
    "throw_statement": _throw,
    "try_statement": _try,
    "seh_try_statement": _try,
    "seh_leave_statement": _plain("?"),
    "attributed_statement": _inner,
    "init_statement": _inner,
    "linkage_specification": _inner,
    "declaration_list": _inner,
    "type_definition": _typedef,
    "struct_specifier": _noted_type,
    "union_specifier": _noted_type,
    "class_specifier": _noted_type,
    "enum_specifier": _noted_type,
    "function_definition": _nested,
    "gnu_asm_expression": _plain("?"),
    "ERROR": _error,
}
