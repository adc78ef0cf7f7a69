"""Recognize counting loops: `i < n` with `i++`, in the loop head or once in the body; and loops that read too far.

`while (p < end)` and `while (n-- > 0)` promise one byte.  A loop over the bytes that remain which reads `p[1]`, or
`*p++` twice, and compares neither the cursor nor what remains in its body, reads past the end of a buffer that is cut
off at the wrong place.  A condition that reads at the cursor before it compares the cursor with the end reads one
element too many.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from jarvis_workers.dataflow import ir
from jarvis_workers.dataflow.loops.loop_moves import Moves, moves_of, tested
from jarvis_workers.dataflow.loops.progress import only_steps
from jarvis_workers.dataflow.queries.ast_queries import OWN_PARTS, assigned, bodies, calls_in, walk, without_casts
from jarvis_workers.dataflow.queries.name_heuristics import judges

LONGEST_STRIDE = 8
UP = frozenset(("<", "<=", "!="))
DOWN = frozenset((">", ">=", "!="))


class Lookahead(NamedTuple):
    """A read behind the promised byte, or before the promise (`end`, what the cursor is compared with afterwards)."""

    cursor: ir.NameExpr
    read: ir.Expression
    line: int
    end: ir.Expression | None = None


class LoopFacts(NamedTuple):
    """Cached properties of a loop: its counter, all places that it assigns to, and these places without the counter.

    `only_steps` are the ids of the assignments by which alone the loop proceeds, with the variables through which it
    reads.
    """

    counter: "Counter | None"
    changed: list[ir.Expression]
    beside: list[ir.Expression]
    moves: Moves
    ahead: Lookahead | None
    only_steps: Mapping[int, frozenset[str]]


class Counter(NamedTuple):
    """The induction variable of a loop, the comparison with its bound, and its step, negative when counting down."""

    variable: ir.Expression
    compare: str
    end: ir.Expression
    step: int


def loop_of(statement: ir.LoopStmt) -> LoopFacts:
    """Return the properties of a loop."""
    turn = (statement.body, statement.step)
    counter = _counter_of(statement.condition, turn) if statement.form != "do" else None
    in_turn, moves = assigned(turn), moves_of(statement)
    beside = [one for one in in_turn if counter is None or one != counter.variable]
    changed = list(dict.fromkeys(in_turn + assigned((statement.condition,))))
    return LoopFacts(counter, changed, beside, moves, lookahead_of(statement, moves), only_steps(statement, moves))


def _counter_of(condition: ir.Expression | None, turn: tuple[Any, ...]) -> Counter | None:
    """Return the counter of a loop if its only update is one constant increment."""
    if not isinstance(condition, ir.BinaryExpr) or condition.op not in UP | DOWN:
        return None
    _, compare, left, right = condition
    if not isinstance(left, (ir.NameExpr, ir.MemberExpr, ir.ArrowExpr)):
        return None
    moves = [move for move in (_move(node, left) for node in walk(turn)) if move is not None]
    if len(moves) != 1 or moves[0] == 0:
        return None
    return Counter(left, compare, right, moves[0]) if compare in (UP if moves[0] > 0 else DOWN) else None


def _move(node: tuple[Any, ...], variable: ir.Expression) -> int | None:
    """Return the increment of a variable, 0 for any other assignment to it, None if the node does not assign to it."""
    if isinstance(node, ir.UpdateExpr) and node.operand == variable:
        return 1 if node.op == "+" else -1
    if isinstance(node, ir.AssignExpr) and node.target == variable:
        amount = node.value
        if node.op in ("+", "-") and isinstance(amount, ir.NumberExpr) and 0 < amount.value <= LONGEST_STRIDE:
            return amount.value if node.op == "+" else -amount.value
        return 0
    return None


class Head(NamedTuple):
    """What the condition of a loop says: its cursors, and the names whose comparison in the body would be a check."""

    cursors: tuple[str, ...]
    names: frozenset[str]
    counts: bool


def lookahead_of(statement: ir.LoopStmt, moves: Moves) -> Lookahead | None:
    """Return a read past the byte that a loop promises."""
    steps, inside = moves.steps, moves.inside
    parts = list(_parts(statement.condition))
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


def _parts(e: ir.Expression | None) -> Iterator[ir.Expression]:
    if isinstance(e, ir.AndExpr):
        yield from _parts(e.left)
        yield from _parts(e.right)
    elif e is not None:
        yield e


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


def judges_in(body: tuple[ir.Statement, ...]) -> bool:
    """Return whether the body calls a macro or function that may be a check."""
    return any(
        isinstance(call, ir.CallExpr)
        and isinstance(call.callee, ir.NameExpr)
        and ((isinstance(statement, ir.ExprStmt) and call.callee.name.isupper()) or judges(call.callee.name))
        for statement in _all(body)
        for call in calls_in(statement)
    )


def _all(body: tuple[ir.Statement, ...]) -> Iterator[ir.Statement]:
    for statement in body:
        yield statement
        for inner in bodies(statement):
            yield from _all(tuple(inner))


def _further(statement: ir.LoopStmt, cursor: str, step: int, *, counts: bool) -> Lookahead | None:
    for inner in _all(statement.body):
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
