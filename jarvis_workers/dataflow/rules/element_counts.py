"""flow_buffer_overflow, _overread: an index up to the number of elements that a field of the same struct says.

Where the file allocates n elements for a field and sets another one to n, `i <= t->count` is one too many.
"""

from collections.abc import Iterator

from jarvis_workers.dataflow import ir
from jarvis_workers.dataflow.events import Access, on_unknown_access
from jarvis_workers.dataflow.queries.ast_queries import walk, without_casts
from jarvis_workers.dataflow.queries.pretty import text_of
from jarvis_workers.dataflow.rules.buffer_access import OVERFLOW, OVERREAD
from jarvis_workers.dataflow.state.context import AnalysisContext, facts_of
from jarvis_workers.dataflow.state.path import PathState

INCLUSIVE = 0.62
MEMBERS = (ir.ArrowExpr, ir.MemberExpr)


@on_unknown_access
def _accessed(path: PathState, access: Access) -> None:
    pointer, index, machine = access.pointer, access.place, path.machine
    if not isinstance(pointer, MEMBERS) or not isinstance(index, ir.NameExpr) or machine.mode.quiet:
        return
    for pair, operators in facts_of(path.frame.function).comparisons.items():
        bound = next((one for one in pair if isinstance(one, MEMBERS) and one.base == pointer.base), None)
        if bound is None or index not in pair or not operators <= {">", "<="}:
            continue
        if (pointer.member, bound.member) in _counts(machine):
            rule, does = (OVERFLOW, "written") if access.writing else (OVERREAD, "read")
            text = f"{text_of(pointer)} has {text_of(bound)} elements, and is {does} at {text_of(index)} up to that"
            rule.report(path, machine.execution.line, text, sure=INCLUSIVE)


def _counts(machine: AnalysisContext) -> frozenset[tuple[str, str]]:
    """Return the fields that point to memory, with the fields that hold the number of their elements."""
    if machine.element_counts is None:
        bodies = [machine.own(one).body for one in machine.functions.values() if "body" in one]
        rows = [row for body in bodies for row in _allocated(body)]
        others = {field for field, count in rows if count is None}
        machine.element_counts = frozenset((field, count) for field, count in rows if count and field not in others)
    return machine.element_counts


def _allocated(body: tuple[ir.Statement, ...]) -> Iterator[tuple[str, str | None]]:
    """Yield each field that gets new memory, with the field of its number of elements, None if that is none."""
    fields = {
        node.target.member: without_casts(node.value)
        for node in walk(body)
        if isinstance(node, ir.AssignExpr) and not node.op and isinstance(node.target, MEMBERS)
    }
    for field, value in fields.items():
        number = _number(value)
        if number is not None:
            count = number.member if isinstance(number, MEMBERS) else None
            yield field, count or next((other for other, given in fields.items() if given == number), None)


def _number(value: ir.Expression) -> ir.Expression | None:
    """Return the number of elements of an allocation."""
    match value:
        case ir.NewExpr(size=size):
            return size
        case ir.CallExpr(callee=ir.NameExpr(name=name), args=(number, _)) if name.lower().endswith("calloc"):
            return without_casts(number)
        case ir.CallExpr(callee=ir.NameExpr(name=name), args=(ir.BinaryExpr(op="*", left=left, right=right),)):
            if name.lower().endswith("malloc"):
                return without_casts(left if isinstance(right, ir.SizeofExpr) else right)
    return None
