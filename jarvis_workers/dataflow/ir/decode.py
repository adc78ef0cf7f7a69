"""Decode nodes from their JSON form: lists that begin with the tag of the kind.  The input is not changed."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, get_args

from jarvis_workers.dataflow.ir.expr import (
    EXPRESSIONS,
    AndExpr,
    ArrowExpr,
    AssignExpr,
    BinaryExpr,
    CallExpr,
    CastExpr,
    Expression,
    IndexExpr,
    LongStringExpr,
    MemberExpr,
    NewExpr,
    OrExpr,
    PlacementNewExpr,
    Statement,
    StringExpr,
    UnaryExpr,
)
from jarvis_workers.dataflow.ir.stmt import (
    STATEMENTS,
    CaseGroup,
    DeclStmt,
    ExprStmt,
    FunctionMacro,
    GlobalVariable,
    IfStmt,
    Initializer,
    LoweredFunction,
    Parameter,
    RecordField,
    RecordType,
)

Stored = Sequence[Any]
Decoder = Callable[[Stored], Any]
_new: Callable[[Any, tuple[Any, ...]], Any] = tuple.__new__


def function(stored: Mapping[str, Any]) -> LoweredFunction:
    """Decode a function of a summary."""
    return LoweredFunction(
        stored["name"],
        stored["line"],
        stored["end"],
        tuple([Parameter(name, kind, _nodes(dims)) for name, kind, dims in stored["params"]]),
        tuple([Initializer(name, _nodes(args)) for name, args in stored["init"]]),
        _nodes(stored["body"]),
        stored.get("partial", False),
        stored.get("returns", ""),
    )


def global_variable(stored: Stored) -> GlobalVariable:
    kind, dims, init, flags = stored
    return GlobalVariable(kind, _nodes(dims), _node(init), flags)


def record(stored: Mapping[str, Any]) -> RecordType:
    """Decode a type of a summary."""
    fields = {name: RecordField(kind, _nodes(dims)) for name, (kind, dims) in stored["fields"].items()}
    shared = frozenset(stored.get("shared", ()))
    return RecordType(fields, tuple(stored["bases"]), stored["union"], stored.get("virtual", ""), shared)


def macro(stored: Stored) -> Expression | FunctionMacro:
    """Decode a macro of a summary."""
    first, *rest = stored
    if type(first) is str:
        plain: Expression = _node(stored)
        return plain
    return FunctionMacro(tuple(first), *map(_node, rest))


def replaced(node: tuple[Any, ...], parts: Iterable[Any]) -> Any:
    """Return a node of the same kind with other fields, the tag included; a plain tuple stays one."""
    return tuple.__new__(type(node), parts)


def tag_of(kind: Any) -> str:
    """Return the tag of a kind of nodes."""
    tag: str = get_args(kind.__annotations__["kind"])[0]
    return tag


def _node(stored: Any) -> Any:
    """Decode a node, or None."""
    return None if stored is None else DECODERS[stored[0]](stored)


def _nodes(stored: Iterable[Any]) -> tuple[Any, ...]:
    return tuple([None if one is None else DECODERS[one[0]](one) for one in stored])


def _bodies(stored: Iterable[Any]) -> tuple[Any, ...]:
    return tuple([_nodes(body) for body in stored])


def _groups(stored: Iterable[Any]) -> tuple[CaseGroup, ...]:
    return tuple([CaseGroup(_nodes(labels), _nodes(body)) for labels, body in stored])


# The decoders of field types; fields of other types are kept as stored.
FIELDS: dict[Any, Callable[[Any], Any]] = {
    Expression: _node,
    Expression | None: _node,
    tuple[Expression, ...]: _nodes,
    tuple[Expression | None, ...]: _nodes,
    tuple[Statement, ...]: _nodes,
    tuple[tuple[Statement, ...], ...]: _bodies,
    tuple[CaseGroup, ...]: _groups,
    tuple[str, ...]: tuple,
}


def _decoder(kind: Any) -> Decoder:
    """Return the decoder of a kind.  Most nodes are leaves, which only change their type from list to node."""
    make: Decoder = partial(tuple.__new__, kind)
    nested = [(place, FIELDS[of]) for place, of in enumerate(kind.__annotations__.values()) if of in FIELDS]
    if not nested:
        return make

    def decode(stored: Stored) -> Any:
        parts = list(stored)
        for place, convert in nested:
            parts[place] = convert(parts[place])
        return make(parts)

    return decode


def _call(stored: Stored) -> Any:
    tag, callee, args, line = stored
    args = [DECODERS[arg[0]](arg) for arg in args]
    return _new(CallExpr, (tag, DECODERS[callee[0]](callee), tuple(args), line))


def _assignment(stored: Stored) -> Any:
    tag, op, target, value, line = stored
    return _new(AssignExpr, (tag, op, DECODERS[target[0]](target), DECODERS[value[0]](value), line))


def _binary(stored: Stored) -> Any:
    tag, op, left, right = stored
    return _new(BinaryExpr, (tag, op, DECODERS[left[0]](left), DECODERS[right[0]](right)))


def _if(stored: Stored) -> Any:
    tag, line, condition, then, otherwise = stored
    return _new(IfStmt, (tag, line, DECODERS[condition[0]](condition), _nodes(then), _nodes(otherwise)))


def _declaration(stored: Stored) -> Any:
    tag, line, name, of, dims, init, flags = stored
    return _new(DeclStmt, (tag, line, name, of, _nodes(dims), _node(init), flags))


def _with_base(kind: Any) -> Decoder:
    def decode(stored: Stored) -> Any:
        tag, base, member = stored
        return _new(kind, (tag, DECODERS[base[0]](base), member))

    return decode


def _with_operand(kind: Any) -> Decoder:
    def decode(stored: Stored) -> Any:
        tag, before, operand = stored
        return _new(kind, (tag, before, DECODERS[operand[0]](operand)))

    return decode


def _with_sides(kind: Any) -> Decoder:
    def decode(stored: Stored) -> Any:
        tag, left, right = stored
        return _new(kind, (tag, DECODERS[left[0]](left), DECODERS[right[0]](right)))

    return decode


def _by_length(short: Any, long: Any) -> Decoder:
    """Return the decoder of two kinds that share a tag; one has an additional field."""
    length, first, second = len(short._fields), _decoder(short), _decoder(long)
    return lambda stored: first(stored) if len(stored) == length else second(stored)


DECODERS: dict[str, Decoder] = {
    **{tag_of(kind): _decoder(kind) for kind in (*EXPRESSIONS, *STATEMENTS)},
    # Faster decoders for the most frequent kinds that contain nodes.
    **{tag_of(kind): _with_base(kind) for kind in (MemberExpr, ArrowExpr)},
    **{tag_of(kind): _with_operand(kind) for kind in (UnaryExpr, CastExpr, ExprStmt)},
    **{tag_of(kind): _with_sides(kind) for kind in (IndexExpr, AndExpr, OrExpr)},
    tag_of(CallExpr): _call,
    tag_of(AssignExpr): _assignment,
    tag_of(BinaryExpr): _binary,
    tag_of(IfStmt): _if,
    tag_of(DeclStmt): _declaration,
    tag_of(StringExpr): _by_length(StringExpr, LongStringExpr),
    tag_of(NewExpr): _by_length(NewExpr, PlacementNewExpr),
}
