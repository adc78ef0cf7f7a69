"""Lower expressions: drop parentheses, and decode names, numbers and strings."""

from jarvis_workers.dataflow.frontend.cpp_expressions import (
    arguments,
    call_of_template,
    delete,
    function,
    new,
    qualified,
)
from jarvis_workers.dataflow.frontend.declared import array_type, descriptor, plain_type
from jarvis_workers.dataflow.frontend.grammar import Expr, ExprOf, Node, Reading
from jarvis_workers.dataflow.frontend.literals import character, negate, number, string, typed_number

SPELLED = {
    "and": "&&", "or": "||", "not_eq": "!=", "bitand": "&", "bitor": "|", "xor": "^", "not": "!", "compl": "~",
    "and_eq": "&=", "or_eq": "|=", "xor_eq": "^=",
}  # fmt: skip
BINARY = frozenset(["+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^", "==", "!=", "<", ">", "<=", ">="])
# The operators for whose operands the analysis needs the types of literals, which decide about wraps.
TYPED = frozenset(["+", "-", "*", "<<", "<", ">", "<=", ">="])
SIGNS = frozenset("+-*&")
CALLED = frozenset({"free", "malloc", "calloc", "realloc", "printf", "exit", "abort"})
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


def _statements(reading: Reading, node: Node) -> Expr:
    """Lower a block that is a statement expression of GNU C, `({ f(); 1; })`, or an argument of a macro."""
    reading.skip("block in an expression", node)
    return ["x"]


def _binary(reading: Reading, node: Node) -> Expr:
    children = reading.children(node)
    if len(children) != 3:
        return ["x"]
    left, operator, right = children
    op = operator.type
    if (
        op in SIGNS
        and left.type == "parenthesized_expression"
        and (cast := _cast_of(reading, left, is_address=op == "&" and _is_address(reading, node)))
    ):
        value = reading.expr(right)
        if op == "-" and (negative := negate(value)):
            return ["t", cast, negative]
        return ["t", cast, [op, value] if op in ("*", "&") else ["u", op, value]]
    if op in BINARY:
        lower = _typed if op in TYPED else Reading.expr
        return ["b", op, lower(reading, left), lower(reading, right)]
    op = SPELLED.get(op, op)
    if op in ("&&", "||"):
        return [op, reading.expr(left), reading.expr(right)]
    return ["b", op, reading.expr(left), reading.expr(right)] if op in BINARY else ["x"]


def _typed(reading: Reading, node: Node) -> Expr:
    return typed_number(reading.word(node)) if node.type == "number_literal" else reading.expr(node)


def _is_address(reading: Reading, node: Node) -> bool:
    """Return whether an operation is written like a cast of the address of a variable, as in `(NAME)&x`."""
    left, operator, right = reading.children(node)
    is_tight = left.end_byte == operator.start_byte and operator.end_byte == right.start_byte
    return is_tight and right.type == "identifier" and reading.knows(reading.word(right))


def _cast_of(reading: Reading, node: Node, *, is_address: bool) -> str:
    """Return the type name in a parenthesized cast that parses as a product, as in `(name_t) * p`; "" for no cast."""
    inner = node.children
    name = reading.word(inner[1]) if len(inner) == 3 and inner[1].type == "identifier" else ""
    is_type = is_address or name.endswith("_t") or name in reading.names.types or name in reading.names.typedefs
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
        return call_of_template(reading, (called, given), node)
    callee = reading.expr(called)
    match callee:
        case ["v", name]:
            if kind == "parenthesized_expression" and not reading.knows(name):
                values = arguments(reading, given)
                if len(values) == 1 and name not in CALLED:
                    return ["t", name, *values]
            reading.calls.add(name)
    return ["c", callee, arguments(reading, given), reading.line(node)]


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
    if op == "-" and (negative := negate(value)):
        return negative
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
        kind, dims = array_type(reading, inner)
        size: Expr = ["z", kind, None]
        for dim in dims:
            size = ["b", "*", size, dim if dim is not None else ["x"]]
        return size
    operand = reading.expr(inner)
    match operand:
        case ["v", name] if inner.type == "parenthesized_expression" and not reading.knows(name):
            return ["z", plain_type(name), None]
    return ["z", None, operand]


def _offset(reading: Reading, node: Node) -> Expr:
    """Read offsetof as the address of a member of the object at 0."""
    kind, member = node.child_by_field_name("type"), node.child_by_field_name("member")
    if kind is None or member is None:
        return ["x"]
    return ["&", ["->", ["t", f"{descriptor(reading, kind)}*", ["n", 0]], reading.word(member)]]


def _conditional(reading: Reading, node: Node) -> Expr:
    children = reading.children(node)
    if len(children) == 5:
        return ["?:", reading.expr(children[0]), reading.expr(children[2]), reading.expr(children[4])]
    if len(children) == 4:
        condition = reading.expr(children[0])
        tag, *_ = condition
        return ["?:", condition, condition if tag in ("v", "->", ".") else ["x"], reading.expr(children[3])]
    return ["x"]


def _comma(reading: Reading, node: Node) -> Expr:
    values: list[Expr] = []
    for child in reading.children(node):
        if child.type != ",":
            match reading.expr(child):
                case [",", parts]:
                    values.extend(parts)
                case value:
                    values.append(value)
    return [",", values]


def _list(reading: Reading, node: Node) -> Expr:
    return ["{}", arguments(reading, node)]


def _designated(reading: Reading, node: Node) -> Expr:
    children = reading.children(node)
    name = reading.word(children[0]).strip() if children else ""
    value = reading.expr(children[-1]) if children else ["x"]
    return [".=", name.removeprefix("."), value]


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
    "offsetof_expression": _offset,
    "conditional_expression": _conditional,
    "comma_expression": _comma,
    "initializer_list": _list,
    "initializer_pair": _designated,
    "qualified_identifier": qualified,
    "template_function": qualified,
    "new_expression": new,
    "delete_expression": delete,
    "lambda_expression": function,
    "extension_expression": _last,
    "parameter_pack_expansion": _first,
    "user_defined_literal": _first,
    "condition_clause": _last,
    "compound_statement": _statements,
}
