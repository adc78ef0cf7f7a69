"""Make nodes of what JSON holds of them: lists, the tag of the kind first.  What is given is not changed."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, get_args

from jarvis_workers.dataflow.ir.expr import (
    EXPRESSIONS,
    Expression,
    LongStringExpr,
    NewExpr,
    PlacementNewExpr,
    Statement,
    StringExpr,
)
from jarvis_workers.dataflow.ir.stmt import (
    STATEMENTS,
    CaseGroup,
    FunctionMacro,
    GlobalVariable,
    Initializer,
    LoweredFunction,
    Parameter,
    RecordField,
    RecordType,
)

__all__ = ["function", "global_variable", "macro", "record", "tag_of"]

Stored = Sequence[Any]


def function(stored: Mapping[str, Any]) -> LoweredFunction:
    """Return a function of a summary."""
    return LoweredFunction(
        stored["name"],
        stored["line"],
        stored["end"],
        tuple([Parameter(name, kind, _nodes(dims)) for name, kind, dims in stored["params"]]),
        tuple([Initializer(name, _nodes(args)) for name, args in stored["init"]]),
        _nodes(stored["body"]),
    )


def global_variable(stored: Stored) -> GlobalVariable:
    kind, dims, init, flags = stored
    return GlobalVariable(kind, _nodes(dims), _node(init), flags)


def record(stored: Mapping[str, Any]) -> RecordType:
    """Return a type of a summary."""
    fields = {name: RecordField(kind, _nodes(dims)) for name, (kind, dims) in stored["fields"].items()}
    return RecordType(fields, tuple(stored["bases"]), stored["union"])


def macro(stored: Stored) -> Expression | FunctionMacro:
    """Return a macro of a summary."""
    first, *rest = stored
    if type(first) is str:
        plain: Expression = _node(stored)
        return plain
    return FunctionMacro(tuple(first), *map(_node, rest))


def tag_of(kind: Any) -> str:
    """Return the tag of a kind of nodes."""
    tag: str = get_args(kind.__annotations__["kind"])[0]
    return tag


def _node(stored: Any) -> Any:
    """Return the node of what is stored, or None."""
    return None if stored is None else DECODERS[stored[0]](stored)


def _nodes(stored: Iterable[Any]) -> tuple[Any, ...]:
    return tuple([None if one is None else DECODERS[one[0]](one) for one in stored])


def _bodies(stored: Iterable[Any]) -> tuple[Any, ...]:
    return tuple([_nodes(body) for body in stored])


def _groups(stored: Iterable[Any]) -> tuple[CaseGroup, ...]:
    return tuple([CaseGroup(_nodes(labels), _nodes(body)) for labels, body in stored])


# How fields are decoded, by their types; others are as they were stored.
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


def _decoder(kind: Any) -> Callable[[Stored], Any]:
    """Return what makes nodes of a kind: most of all nodes are leaves, whose list is the node but for its type."""
    make: Callable[[Stored], Any] = partial(tuple.__new__, kind)
    nested = [(place, FIELDS[of]) for place, of in enumerate(kind.__annotations__.values()) if of in FIELDS]
    single = [place for place, convert in nested if convert is _node]
    others = [(place, convert) for place, convert in nested if convert is not _node]
    if not nested:
        return make

    def decode(stored: Stored) -> Any:
        parts = list(stored)
        for place in single:
            part = parts[place]
            if part is not None:
                parts[place] = DECODERS[part[0]](part)
        for place, convert in others:
            parts[place] = convert(parts[place])
        return make(parts)

    return decode


def _by_length(short: Any, long: Any) -> Callable[[Stored], Any]:
    """Return what makes nodes of two kinds with one tag: one has a field more."""
    length, first, second = len(short._fields), _decoder(short), _decoder(long)
    return lambda stored: first(stored) if len(stored) == length else second(stored)


DECODERS: dict[str, Callable[[Stored], Any]] = {
    **{tag_of(kind): _decoder(kind) for kind in (*EXPRESSIONS, *STATEMENTS)},
    tag_of(StringExpr): _by_length(StringExpr, LongStringExpr),
    tag_of(NewExpr): _by_length(NewExpr, PlacementNewExpr),
}
