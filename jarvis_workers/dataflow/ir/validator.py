"""Validate lowered functions: kinds of nodes, numbers of fields and types of fields."""

from collections.abc import Iterator
from typing import Annotated, Any, Literal, get_args, get_origin

from jarvis_workers.dataflow.ir.expr import EXPRESSIONS, Expression, Statement
from jarvis_workers.dataflow.ir.stmt import STATEMENTS, CaseGroup, Initializer, LoweredFunction, Parameter

KINDS: dict[Any, tuple[Any, ...]] = {Expression: EXPRESSIONS, Statement: STATEMENTS}
PARTS = (CaseGroup, Initializer, LoweredFunction, Parameter)


def check(function: LoweredFunction) -> list[str]:
    """Return the problems of a function, each with the kind of the node and its field; empty if it is valid."""
    return list(_problems(function, LoweredFunction, "function"))


def _problems(value: Any, of: Any, where: str) -> Iterator[str]:
    """Yield the problems of a value that should have the type `of`."""
    if of in KINDS or of in PARTS:
        yield from _problems_of_node(value, KINDS.get(of, (of,)), where)
    elif get_origin(of) is tuple and type(value) is tuple:
        for place, one in enumerate(value):
            yield from _problems(one, get_args(of)[0], f"{where}[{place}]")
    elif get_origin(of) is Literal:
        if value not in get_args(of):
            yield f"{where}: {value!r} is not {get_args(of)[0]!r}"
    elif type(None) in get_args(of) and get_origin(of) is not Annotated:
        if value is not None:
            yield from _problems(value, get_args(of)[0], where)
    elif type(value) is not of:
        yield f"{where}: {type(value).__name__} instead of {of}"


def _problems_of_node(value: Any, kinds: tuple[Any, ...], where: str) -> Iterator[str]:
    kind = type(value)
    if kind not in kinds:
        yield f"{where}: unexpected {kind.__name__}"
        return
    if len(value) != len(kind._fields):
        yield f"{where}: {kind.__name__} has {len(value)} fields, not {len(kind._fields)}"
        return
    for (name, of), part in zip(kind.__annotations__.items(), value, strict=True):
        yield from _problems(part, of, f"{kind.__name__}.{name}")
