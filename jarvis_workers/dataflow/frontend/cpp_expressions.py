"""Lower expressions specific to C++: qualified names, templates, named casts, new, delete and lambdas."""

from jarvis_workers.dataflow.frontend.declared import descriptor, parameters, plain_type
from jarvis_workers.dataflow.frontend.grammar import Expr, Node, Reading

CASTS = frozenset(["static_cast", "dynamic_cast", "const_cast", "reinterpret_cast", "bit_cast"])


def arguments(reading: Reading, node: Node) -> list[Expr]:
    """Return the items of an argument or initializer list."""
    expr = reading.expr
    return [expr(child) for child in reading.children(node)[1:-1] if child.type != ","]


def call_of_template(reading: Reading, call: tuple[Node, Node], node: Node) -> Expr:
    called, args_node = call
    values = arguments(reading, args_node)
    name = _name_of(reading, called)
    if name in CASTS and len(values) == 1:
        kinds = [child for child in called.named_children if child.type == "template_argument_list"]
        inner = kinds[0].named_children if kinds else []
        return ["t", descriptor(reading, inner[0]) if inner else "", values[0]]
    reading.calls.add(name)
    return ["c", ["v", name], values, reading.line(node)]


def _name_of(reading: Reading, node: Node) -> str:
    """Return a qualified name without template arguments."""
    if node.type == "template_function":
        node = node.children[0]
    text = reading.word(node)
    if "<" in text and "operator" not in text:
        text = _without_arguments(text)
    return "".join(text.split()).removeprefix("::")


def _without_arguments(text: str) -> str:
    depth, pieces = 0, []
    for char in text:
        depth += char == "<"
        if not depth:
            pieces.append(char)
        depth -= char == ">" and depth > 0
    return "".join(pieces)


def qualified(reading: Reading, node: Node) -> Expr:
    return ["v", _name_of(reading, node)]


def construction(reading: Reading, name: str, args_node: Node) -> Expr:
    """Return the initializer that calls a constructor."""
    return ["ctor", name, arguments(reading, args_node)]


def new(reading: Reading, node: Node) -> Expr:
    """Lower a new-expression; the arguments of placement new follow the line."""
    name, size, values, where = "", None, [], []
    for child in reading.children(node):
        kind = child.type
        if kind == "argument_list" and not name:
            where = [arguments(reading, child)]
        elif kind == "new_declarator":
            sizes = [grandchild for grandchild in child.named_children if grandchild.type != "new_declarator"]
            size = reading.expr(sizes[0]) if sizes else None
        elif kind in ("argument_list", "initializer_list"):
            values = arguments(reading, child)
        elif kind.endswith("abstract_pointer_declarator"):
            name += "*"
        elif child.is_named and not name:
            name = descriptor(reading, child) if kind == "type_descriptor" else plain_type(reading.word(child))
    return ["new", name, size, values, reading.line(node), *where]


def delete(reading: Reading, node: Node) -> Expr:
    children = reading.children(node)
    is_array = any(child.type in ("[", "[]") for child in children[:-1])
    return ["del", is_array, reading.expr(children[-1]) if children else ["x"], reading.line(node)]


def function(reading: Reading, node: Node) -> Expr:
    names, body = [], []
    captures: list[str] = []
    for child in reading.children(node):
        if child.type == "abstract_function_declarator":
            names = [name for name, *_ in parameters(reading, child)]
        elif child.type == "compound_statement":
            reading.skip("lambda", child)
            body = reading.stmts(child)
        elif child.type == "lambda_capture_specifier":
            captures = [one.strip() for one in reading.word(child)[1:-1].split(",")]
    return ["fn", names, body, captures]
