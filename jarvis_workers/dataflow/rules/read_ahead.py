"""flow_buffer_overread: a loop over the bytes that remain reads further than the byte that its condition promises.

`while (p < end)` and `while (n-- > 0)` promise one byte.  A loop that reads `p[1]`, or `*p++` twice, and compares
neither the cursor nor what remains in its body, reads past the end of a buffer that is cut off at the wrong place.
A condition that reads at the cursor before it compares the cursor with the end reads one element too many.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

from jarvis_workers.dataflow import ir
from jarvis_workers.dataflow.events import on_loop
from jarvis_workers.dataflow.expressions.evaluate import evaluate
from jarvis_workers.dataflow.loops.loop_moves import Moves, all_statements, judges_in, tested
from jarvis_workers.dataflow.memory.extents import room
from jarvis_workers.dataflow.queries.ast_queries import OWN_PARTS, walk, without_casts
from jarvis_workers.dataflow.queries.condition_queries import conjuncts
from jarvis_workers.dataflow.queries.pretty import text_of
from jarvis_workers.dataflow.rules.buffer_access import OVERREAD
from jarvis_workers.dataflow.state.path import PathState
from jarvis_workers.dataflow.state.ranges import is_exact
from jarvis_workers.dataflow.state.sizes import BYTES, is_in_units
from jarvis_workers.dataflow.state.types import type_of

# Text may be terminated, and bytes come in pairs.
AHEAD = 0.48


class Lookahead(NamedTuple):
    """A read behind the promised byte, or before the promise (`end`, what the cursor is compared with afterwards)."""

    cursor: ir.NameExpr
    read: ir.Expression
    line: int
    end: ir.Expression | None = None


class Head(NamedTuple):
    """What the condition of a loop says: its cursors, and the names whose comparison in the body would be a check."""

    cursors: tuple[str, ...]
    names: frozenset[str]
    counts: bool


@on_loop
def _began(path: PathState, statement: ir.LoopStmt, moves: Moves) -> None:
    if not path.frame.depth:
        ahead = path.machine.once(statement, partial(_lookahead_of, statement, moves), "read ahead")
        if ahead is not None:
            _read_ahead(path, ahead)


def _read_ahead(path: PathState, ahead: Lookahead) -> None:
    if ahead.end is not None:
        if _has_room(path, ahead, ahead.end):
            return
        text = f"{text_of(ahead.read)} is read before {ahead.cursor.name} is compared with the end"
        OVERREAD.report(path, ahead.line, text, sure=AHEAD)
        return
    kind = type_of(path, ahead.cursor)
    if kind is None or not kind.endswith("*") or path.machine.plain(kind[:-1]) not in BYTES:
        return
    memory = path.object_of(evaluate(path, ahead.cursor))
    if memory is not None and memory.kind in ("text", "static"):
        return
    text = f"{text_of(ahead.read)} is read, but the loop only makes sure that one byte of {ahead.cursor.name} is left"
    OVERREAD.report(path, ahead.line, text, sure=AHEAD)


def _has_room(path: PathState, ahead: Lookahead, end: ir.Expression) -> bool:
    """Return whether the element at the end is inside memory of a known size, too."""
    machine, read = path.machine, ahead.read
    before, machine.mode = machine.mode, machine.mode.quietly()
    path = path.copy()
    last = evaluate(path, end)
    is_index = isinstance(read, ir.IndexExpr) and read.subscript == ahead.cursor
    start = evaluate(path, read.base) if isinstance(read, ir.IndexExpr) and is_index else last
    machine.mode = before
    memory, most = path.object_of(start), last.range[1] if is_index else 0
    left = room(start, memory) if memory is not None and is_exact(start.at) else None
    if memory is None or left is None or most is None or is_in_units(most):
        return False
    return (most + 1) * memory.element <= left


def _lookahead_of(statement: ir.LoopStmt, moves: Moves) -> Lookahead | None:
    """Return a read past the byte that a loop promises."""
    steps, inside = moves.steps, moves.inside
    parts = list(conjuncts(statement.condition))
    for place, part in enumerate(parts):
        early = _read_before(part, parts[:place], steps, statement.line)
        if early is not None:
            return early
    for condition in parts:
        head = _head(condition, steps)
        if head is None or head.names & inside or set(head.cursors) & inside or judges_in(statement.body):
            continue
        for cursor in head.cursors:
            read = _further(statement, cursor, min(steps[cursor]), counts=head.counts)
            if read is not None:
                return read
    return None


def _read_before(
    e: ir.Expression, before: list[ir.Expression], steps: dict[str, set[int]], line: int
) -> Lookahead | None:
    """Return the read at a cursor that `e` compares with an upper end, in an earlier part of the condition.

    If one of the parts tests an element at the cursor for 0, a text or table ends there, and no read counts.
    """
    match e:
        case ir.BinaryExpr(op="<" | "!=", left=ir.NameExpr() as cursor, right=end) if end != ir.ZERO:
            pass
        case ir.BinaryExpr(op=">", left=end, right=ir.NameExpr() as cursor) if end != ir.ZERO:
            pass
        case _:
            return None
    if isinstance(end, ir.NullExpr) or min(steps.get(cursor.name, (-1,))) < 0:
        return None
    if any(_ends_text(part, cursor) for part in before):
        return None
    for part in before:
        for node in walk((part,)):
            if isinstance(node, (ir.DerefExpr, ir.IndexExpr)) and cursor in node:
                return Lookahead(cursor, node, line, end)
    return None


def _ends_text(e: ir.Expression, cursor: ir.NameExpr) -> bool:
    """Return whether a condition tests the element at a cursor, or a member of it, for 0."""
    while True:
        match e:
            case ir.BinaryExpr(left=left, right=right) if ir.ZERO in (left, right):
                e = right if left == ir.ZERO else left
            case ir.UnaryExpr(op="!", operand=inner) | ir.CastExpr(operand=inner) | ir.MemberExpr(base=inner):
                e = inner
            case ir.AssignExpr(op="", value=inner) | ir.ArrowExpr(base=inner):
                e = inner
            case _:
                return isinstance(e, (ir.DerefExpr, ir.IndexExpr)) and cursor in e


def _head(e: ir.Expression, steps: dict[str, set[int]]) -> Head | None:
    match e:
        case ir.BinaryExpr(op="<" | "!=", left=ir.NameExpr(name=cursor), right=end) if (
            min(steps.get(cursor, (-1,))) >= 0
        ):
            if end != ir.ZERO and not isinstance(without_casts(end), (ir.NumberExpr, ir.NullExpr)):
                return Head((cursor,), frozenset(tested(end)), counts=False)
            return None
        case ir.BinaryExpr(op=">" | "!=", left=left, right=right) if right == ir.ZERO:
            e = left
    counter = e.operand if isinstance(e, ir.UpdateExpr) and e.op == "-" else e
    if not isinstance(counter, ir.NameExpr) or max(steps.get(counter.name, (1,))) > 0:
        return None
    cursors = tuple(name for name, by in steps.items() if min(by) >= 0 and name != counter.name)
    return Head(cursors, frozenset((counter.name,)), counts=True)


def _further(statement: ir.LoopStmt, cursor: str, step: int, *, counts: bool) -> Lookahead | None:
    for inner in all_statements(statement.body):
        for node in _reads(inner):
            distance = _distance(node, cursor)
            if distance and (step in (0, 1) or distance >= step):
                return Lookahead(ir.NameExpr("v", cursor), node, inner.line)  # type: ignore[attr-defined]
    taken = 0
    for inner in () if counts else statement.body:
        for node in _reads(inner):
            match node:
                case ir.DerefExpr(pointer=ir.UpdateExpr(op="+", operand=ir.NameExpr(name=name))) if name == cursor:
                    taken += 1
                    if taken > 1:
                        return Lookahead(ir.NameExpr("v", cursor), node, inner.line)  # type: ignore[attr-defined]
    return None


def _reads(statement: ir.Statement) -> Iterator[ir.Expression]:
    """Yield the memory accesses in a statement's own expressions, except those that are assigned to."""
    parts = OWN_PARTS.get(type(statement))
    if parts is None:
        return
    code: Any = (parts(statement),)
    written = [node.target for node in walk(code) if isinstance(node, ir.AssignExpr) and not node.op]
    written += [node.operand for node in walk(code) if isinstance(node, ir.AddressExpr)]
    for node in walk(code):
        if isinstance(node, (ir.IndexExpr, ir.DerefExpr)) and not any(node is one for one in written):
            yield node


def _distance(node: ir.Expression, cursor: str) -> int:
    """Return k of `p[k]` and `*(p + k)`, 0 if the node is neither."""
    match node:
        case ir.IndexExpr(base=ir.NameExpr(name=name), subscript=ir.NumberExpr(value=value)) if name == cursor:
            return max(value, 0)
        case ir.DerefExpr(
            pointer=ir.BinaryExpr(op="+", left=ir.NameExpr(name=name), right=ir.NumberExpr(value=value))
        ) if name == cursor:
            return max(value, 0)
    return 0
