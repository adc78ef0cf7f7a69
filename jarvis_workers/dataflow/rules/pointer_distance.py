"""flow_integer_underflow: the distance of two places that were searched for from the same start may be negative."""

from collections.abc import Iterator, Mapping, Sequence

from jarvis_workers.dataflow import ir
from jarvis_workers.dataflow.events import on_exit
from jarvis_workers.dataflow.queries.ast_queries import ORDERED, OWN_PARTS, variables_in, walk, without_casts
from jarvis_workers.dataflow.queries.name_heuristics import listed
from jarvis_workers.dataflow.queries.pretty import text_of
from jarvis_workers.dataflow.rules.integer_wrap import UNDERFLOW
from jarvis_workers.dataflow.state.context import AnalysisContext
from jarvis_workers.dataflow.state.path import PathState
from jarvis_workers.dataflow.state.sizes import limits_of

SEARCHES = frozenset(listed("strchr strstr strcasestr memchr strpbrk index wcschr wcsstr strrchr rindex wcsrchr"))
LAST = ("strrchr", "rindex", "wcsrchr")
SIZED = frozenset(listed("memcpy memmove malloc calloc realloc strncpy strncat strndup memcmp memset fwrite write"))
EITHER_FIRST = 0.6


@on_exit
def _distances(paths: Sequence[PathState], function: ir.LoweredFunction) -> None:
    found = _searches(function) if paths else {}
    if len(found) < 2 or not paths:
        return
    machine = paths[0].machine
    tests = [node for node in walk(function.body) if isinstance(node, ir.BinaryExpr) and node.op in ORDERED]
    kinds = {one.name: one.type for one in walk(function.body) if isinstance(one, ir.DeclStmt)}
    for statement in walk(function.body):
        parts = OWN_PARTS.get(type(statement))
        for e in _sizes(machine, statement, kinds) if parts is not None else ():
            match e:
                case ir.BinaryExpr(op="-", left=ir.NameExpr(name=last), right=ir.NameExpr(name=first)):
                    names = {first, last}
                    if any(names <= variables_in((test,)) for test in tests) or not names <= found.keys():
                        continue
                    if _are_independent(found[last], found[first], names):
                        text = f"{text_of(e)} is negative if {last} is found before {first}"
                        UNDERFLOW.report_in(machine, function, statement.line, text, sure=EITHER_FIRST)  # type: ignore[attr-defined]


def _searches(function: ir.LoweredFunction) -> dict[str, ir.CallExpr]:
    """Return the variables that are set once, to the result of a search."""
    found: dict[str, ir.CallExpr] = {}
    others: set[str] = set()
    for node in walk(function.body):
        match node:
            case ir.DeclStmt(name=name, init=value) if value is not None:
                pass
            case (
                ir.AssignExpr(target=ir.NameExpr(name=name), value=value)
                | ir.UpdateExpr(operand=ir.NameExpr(name=name) as value)
            ):
                pass
            case _:
                continue
        value = without_casts(value)
        match value:
            case ir.CallExpr(callee=ir.NameExpr(name=called)) if called in SEARCHES and name not in found:
                found[name] = value
            case _:
                others.add(name)
    return {name: call for name, call in found.items() if name not in others}


def _are_independent(last: ir.CallExpr, first: ir.CallExpr, names: set[str]) -> bool:
    """Return whether two searches begin at the same place, and neither is certain to succeed behind the other."""
    same = last.args[:1] == first.args[:1] and not variables_in((last.args, first.args)) & names
    is_last = isinstance(last.callee, ir.NameExpr) and last.callee.name in LAST
    return same and not (is_last and last.args == first.args)


def _sizes(machine: AnalysisContext, statement: object, kinds: Mapping[str, str]) -> Iterator[ir.Expression]:
    """Yield what a statement uses as a size: what it converts to an unsigned type, or passes to a function for one.

    `kinds` are the types of variables by their names.
    """
    if isinstance(statement, ir.DeclStmt) and statement.init is not None and _is_size(machine, statement.type):
        yield without_casts(statement.init)
    parts = OWN_PARTS[type(statement)](statement)
    for node in walk((parts,)):
        match node:
            case ir.CastExpr(type=kind, operand=operand) if _is_size(machine, kind):
                yield operand
            case ir.AssignExpr(op="", target=ir.NameExpr(name=name), value=value) if _is_size(
                machine, kinds.get(name, "")
            ):
                yield without_casts(value)
            case ir.CallExpr(callee=ir.NameExpr(name=called), args=args) if called in SIZED:
                yield from args


def _is_size(machine: AnalysisContext, kind: str) -> bool:
    bounds = limits_of(machine.plain(kind))
    return bounds is not None and bounds[0] == 0
