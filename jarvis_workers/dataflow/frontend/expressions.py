"""Lower expressions: parentheses go, names, numbers and strings become what they stand for."""

from jarvis_workers.dataflow.frontend.declared import descriptor, parameters, plain_type
from jarvis_workers.dataflow.frontend.grammar import Expr, ExprOf, Node, Reading
from jarvis_workers.dataflow.frontend.literals import character, number, string

__all__ = ["EXPRESSIONS", "arguments", "construction", "name_of"]

UNKNOWN: Expr = ["x"]
SPELLED = {
    "and": "&&", "or": "||", "not_eq": "!=", "bitand": "&", "bitor": "|", "xor": "^", "not": "!", "compl": "~",
    "and_eq": "&=", "or_eq": "|=", "xor_eq": "^=",
}  # fmt: skip
BINARY = frozenset(["+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^", "==", "!=", "<", ">", "<=", ">="])
SIGNS = frozenset("+-*&")
CALLED = frozenset({"free", "malloc", "calloc", "realloc", "printf", "exit", "abort"})
CASTS = frozenset(["static_cast", "dynamic_cast", "const_cast", "reinterpret_cast", "bit_cast"])
PRINTED = {"d": "ld", "i": "li", "u": "lu", "o": "lo", "x": "lx", "X": "lX"}
PRINTED_SHORT = ("8", "16", "32")


def _name(reading: Reading, node: Node) -> Expr:
    return ["v", reading.text[node.start_byte : node.end_byte]]


def _this(reading: Reading, node: Node) -> Expr:
    return ["v", "this"]


def _number(reading: Reading, node: Node) -> Expr:
    text = reading.text[node.start_byte : node.end_byte]
    if len(text) < 10 and text.isdigit() and (text[0] != "0" or len(text) == 1):
        return ["n", int(text)]
    return number(text)


def _character(reading: Reading, node: Node) -> Expr:
    return character(reading.word(node))


def _string(reading: Reading, node: Node) -> Expr:
    return string([reading.word(node)])


def _strings(reading: Reading, node: Node) -> Expr:
    parts = []
    for child in reading.children(node):
        word = reading.word(child)
        if child.type == "identifier":
            if not word.startswith(("PRI", "SCN")) or word[3:4] not in PRINTED:
                return ["x"]
            word = '"%s"' % (word[3] if word.endswith(PRINTED_SHORT) else PRINTED[word[3]])
        parts.append(word)
    return string(parts)


def _true(reading: Reading, node: Node) -> Expr:
    return ["n", 1]


def _false(reading: Reading, node: Node) -> Expr:
    return ["n", 0]


def _null(reading: Reading, node: Node) -> Expr:
    return ["null"]


def _parenthesized(reading: Reading, node: Node) -> Expr:
    children = reading.children(node)
    return reading.expr(children[1]) if len(children) == 3 else ["x"]


def _binary(reading: Reading, node: Node) -> Expr:
    children = reading.children(node)
    if len(children) != 3:
        return ["x"]
    left, operator, right = children
    op = operator.type
    if op in SIGNS and left.type == "parenthesized_expression" and (cast := _cast_of(reading, left)):
        value = reading.expr(right)
        if op == "-" and value[0] in ("n", "f"):
            return ["t", cast, [value[0], -value[1]]]
        return ["t", cast, [op, value] if op in ("*", "&") else ["u", op, value]]
    if op in BINARY:
        return ["b", op, reading.expr(left), reading.expr(right)]
    op = SPELLED.get(op, op)
    if op in ("&&", "||"):
        return [op, reading.expr(left), reading.expr(right)]
    return ["b", op, reading.expr(left), reading.expr(right)] if op in BINARY else ["x"]


def _cast_of(reading: Reading, node: Node) -> str:
    """Return the type that a name in parentheses is, as in `(name_t) * p`, or nothing."""
    inner = node.children
    name = reading.word(inner[1]) if len(inner) == 3 and inner[1].type == "identifier" else ""
    is_type = name.endswith("_t") or name in reading.names.types or name in reading.names.typedefs
    return name if is_type and not reading.knows(name) else ""


def _assignment(reading: Reading, node: Node) -> Expr:
    children = reading.children(node)
    if len(children) != 3:
        return ["x"]
    left, operator, right = children
    op = operator.type
    return ["=", SPELLED.get(op, op)[:-1], reading.expr(left), reading.expr(right), reading.line(node)]


def _call(reading: Reading, node: Node) -> Expr:
    children = reading.children(node)
    if len(children) < 2:
        return ["x"]
    called, given = children[0], children[-1]
    kind = called.type
    if kind == "identifier":
        name = reading.text[called.start_byte : called.end_byte]
        reading.calls.add(name)
        if name == "va_arg":
            reading.forgive(given)
        return ["c", ["v", name], arguments(reading, given), reading.line(node)]
    if kind in ("primitive_type", "sized_type_specifier"):
        values = arguments(reading, given)
        return ["t", plain_type(reading.word(called)), values[0] if values else ["n", 0]]
    if kind == "template_function":
        return _call_of_template(reading, (called, given), node)
    function = reading.expr(called)
    if kind == "parenthesized_expression" and function[0] == "v" and not reading.knows(function[1]):
        values = arguments(reading, given)
        if len(values) == 1 and function[1] not in CALLED:
            return ["t", function[1], values[0]]
    if function[0] == "v":
        reading.calls.add(function[1])
    return ["c", function, arguments(reading, given), reading.line(node)]


def _call_of_template(reading: Reading, call: tuple[Node, Node], node: Node) -> Expr:
    called, given = call
    values = arguments(reading, given)
    name = name_of(reading, called)
    if name in CASTS and len(values) == 1:
        kinds = [child for child in called.named_children if child.type == "template_argument_list"]
        inner = kinds[0].named_children if kinds else []
        return ["t", descriptor(reading, inner[0]) if inner else "", values[0]]
    reading.calls.add(name)
    return ["c", ["v", name], values, reading.line(node)]


def arguments(reading: Reading, node: Node) -> list[Expr]:
    """Return what stands between the commas of an argument or initialiser list."""
    expr = reading.expr
    return [expr(child) for child in reading.children(node)[1:-1] if child.type != ","]


def _field(reading: Reading, node: Node) -> Expr:
    children = reading.children(node)
    if len(children) < 3:
        return ["x"]
    base, operator, field = children[0], children[1], children[-1]
    op = "->" if operator.type == "->" else "."
    name = reading.text[field.start_byte : field.end_byte]
    return [op, reading.expr(base), name if field.type == "field_identifier" else name.partition("<")[0].strip()]


def _subscript(reading: Reading, node: Node) -> Expr:
    children = reading.children(node)
    if len(children) == 4:
        return ["i", reading.expr(children[0]), reading.expr(children[2])]
    if len(children) == 2:
        indices = arguments(reading, children[1])
        return ["i", reading.expr(children[0]), indices[0] if len(indices) == 1 else ["x"]]
    return ["x"]


def _pointer(reading: Reading, node: Node) -> Expr:
    children = reading.children(node)
    return [children[0].type, reading.expr(children[1])] if len(children) == 2 else ["x"]


def _unary(reading: Reading, node: Node) -> Expr:
    children = reading.children(node)
    if len(children) != 2:
        return ["x"]
    op = children[0].type
    op = SPELLED.get(op, op)
    value = reading.expr(children[1])
    if op == "-" and value[0] in ("n", "f"):
        return [value[0], -value[1]]
    return ["u", op, value] if op in ("-", "+", "!", "~") else ["x"]


def _update(reading: Reading, node: Node) -> Expr:
    children = reading.children(node)
    if len(children) != 2:
        return ["x"]
    op = children[0].type
    if op in ("++", "--"):
        return ["++", op[0], True, reading.expr(children[1])]
    return ["++", children[1].type[0], False, reading.expr(children[0])]


def _cast(reading: Reading, node: Node) -> Expr:
    children = reading.children(node)
    if len(children) != 4:
        return ["x"]
    return ["t", descriptor(reading, children[1]), reading.expr(children[3])]


def _compound_literal(reading: Reading, node: Node) -> Expr:
    children = reading.children(node)
    if len(children) < 2:
        return ["x"]
    if children[0].type == "(":
        return ["t", descriptor(reading, children[1]), reading.expr(children[-1])]
    return ["t", plain_type(reading.word(children[0])), reading.expr(children[-1])]


def _sizeof(reading: Reading, node: Node) -> Expr:
    children = reading.children(node)
    inner = children[-1] if len(children) == 2 else children[2] if len(children) == 4 else None
    if inner is None:
        return ["x"]
    if inner.type == "type_descriptor":
        return ["z", descriptor(reading, inner), None]
    found = reading.expr(inner)
    if inner.type == "parenthesized_expression" and found[0] == "v" and not reading.knows(found[1]):
        return ["z", plain_type(found[1]), None]
    return ["z", None, found]


def _conditional(reading: Reading, node: Node) -> Expr:
    children = reading.children(node)
    if len(children) == 5:
        return ["?:", reading.expr(children[0]), reading.expr(children[2]), reading.expr(children[4])]
    if len(children) == 4:
        condition = reading.expr(children[0])
        return ["?:", condition, condition if condition[0] in ("v", "->", ".") else ["x"], reading.expr(children[3])]
    return ["x"]


def _comma(reading: Reading, node: Node) -> Expr:
    values: list[Expr] = []
    for child in reading.children(node):
        if child.type != ",":
            found = reading.expr(child)
            values.extend(found[1] if found[0] == "," else [found])
    return [",", values]


def _list(reading: Reading, node: Node) -> Expr:
    return ["{}", arguments(reading, node)]


def _designated(reading: Reading, node: Node) -> Expr:
    children = reading.children(node)
    name = reading.word(children[0]).strip() if children else ""
    value = reading.expr(children[-1]) if children else ["x"]
    return [".=", name.removeprefix("."), value]


def name_of(reading: Reading, node: Node) -> str:
    """Return a name with what qualifies it, without the arguments of templates."""
    if node.type == "template_function":
        node = node.children[0]
    text = reading.word(node)
    if "<" in text and "operator" not in text:
        text = _without_arguments(text)
    return "".join(text.split()).removeprefix("::")


def _without_arguments(text: str) -> str:
    depth, kept = 0, []
    for char in text:
        depth += char == "<"
        if not depth:
            kept.append(char)
        depth -= char == ">" and depth > 0
    return "".join(kept)


def _qualified(reading: Reading, node: Node) -> Expr:
    return ["v", name_of(reading, node)]


def construction(reading: Reading, name: str, given: Node) -> Expr:
    """Return the initialiser that calls a constructor."""
    return ["ctor", name, arguments(reading, given)]


def _new(reading: Reading, node: Node) -> Expr:
    """Where the object is put, if the code says so, stands behind the line."""
    name, size, values, where = "", None, [], []
    for child in reading.children(node):
        kind = child.type
        if kind == "argument_list" and not name:
            where = [arguments(reading, child)]
        elif kind == "new_declarator":
            sizes = [found for found in child.named_children if found.type != "new_declarator"]
            size = reading.expr(sizes[0]) if sizes else None
        elif kind in ("argument_list", "initializer_list"):
            values = arguments(reading, child)
        elif kind.endswith("abstract_pointer_declarator"):
            name += "*"
        elif child.is_named and not name:
            name = descriptor(reading, child) if kind == "type_descriptor" else plain_type(reading.word(child))
    return ["new", name, size, values, reading.line(node), *where]


def _delete(reading: Reading, node: Node) -> Expr:
    children = reading.children(node)
    is_array = any(child.type in ("[", "[]") for child in children[:-1])
    return ["del", is_array, reading.expr(children[-1]) if children else ["x"], reading.line(node)]


def _lambda(reading: Reading, node: Node) -> Expr:
    names, body = [], []
    for child in reading.children(node):
        if child.type == "abstract_function_declarator":
            names = [found[0] for found in parameters(reading, child)[0]]
        elif child.type == "compound_statement":
            body = reading.stmts(child)
    return ["fn", names, body]


def _last(reading: Reading, node: Node) -> Expr:
    children = [child for child in reading.children(node) if child.is_named]
    return reading.expr(children[-1]) if children else ["x"]


def _first(reading: Reading, node: Node) -> Expr:
    children = reading.children(node)
    return reading.expr(children[0]) if children else ["x"]


EXPRESSIONS: dict[str, ExprOf] = {
    "identifier": _name,
    "field_identifier": _name,
    "type_identifier": _name,
    "this": _this,
    "number_literal": _number,
    "char_literal": _character,
    "string_literal": _string,
    "raw_string_literal": _string,
    "concatenated_string": _strings,
    "true": _true,
    "false": _false,
    "null": _null,
    "parenthesized_expression": _parenthesized,
    "binary_expression": _binary,
    "assignment_expression": _assignment,
    "call_expression": _call,
    "field_expression": _field,
    "subscript_expression": _subscript,
    "pointer_expression": _pointer,
    "unary_expression": _unary,
    "update_expression": _update,
    "cast_expression": _cast,
    "compound_literal_expression": _compound_literal,
    "sizeof_expression": _sizeof,
    "conditional_expression": _conditional,
    "comma_expression": _comma,
    "initializer_list": _list,
    "initializer_pair": _designated,
    "qualified_identifier": _qualified,
    "template_function": _qualified,
    "new_expression": _new,
    "delete_expression": _delete,
    "lambda_expression": _lambda,
    "extension_expression": _last,
    "parameter_pack_expansion": _first,
    "user_defined_literal": _first,
    "condition_clause": _last,
}
