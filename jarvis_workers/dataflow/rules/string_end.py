"""flow_buffer_overread: a cursor moves over the NUL at the end of its string, and is read behind it."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from jarvis_workers.dataflow import ir
from jarvis_workers.dataflow.events import on_exit
from jarvis_workers.dataflow.queries.ast_queries import ORDERED, walk, without_casts
from jarvis_workers.dataflow.queries.string_cursors import CursorWalker, StringCursor
from jarvis_workers.dataflow.rules.buffer_access import OVERREAD
from jarvis_workers.dataflow.state.path import PathState
from jarvis_workers.dataflow.state.sizes import BYTES, limits_of

# The string may have been checked before.
SKIPPED = 0.5


@on_exit
def _ended(paths: Sequence[PathState], function: ir.LoweredFunction) -> None:
    for path in paths[:1]:
        for line, name in _skips(function, path.machine.plain).items():
            path = path.copy()
            path.trail, path.doubt = None, 0
            OVERREAD.report(path, line, f"{name} may move over the NUL at the end of its string here", sure=SKIPPED)


def _skips(function: ir.LoweredFunction, plain: Any) -> dict[int, str]:
    """Return the lines on which a function moves a cursor over the NUL of its string, to read on behind it."""
    result: dict[int, str] = {}
    for name in _cursors(function, plain):
        walker = CursorWalker(name)
        walker.run(function.body, StringCursor())
        for line in walker.skips:
            result.setdefault(line, name)
    return result


def _cursors(function: ir.LoweredFunction, plain: Any) -> Iterator[str]:
    """Yield the pointers to characters that a function moves, gets without a number and compares with no end."""
    kinds = {one.name: one.type for one in function.params}
    moved, limited = set(), {one.name for one, other in pairwise(function.params) if limits_of(plain(other.type))}
    for node in walk(function.body):
        match node:
            case ir.DeclStmt(name=name, type=kind, dims=()):
                kinds[name] = kind
            case ir.UpdateExpr(op="+", operand=ir.NameExpr(name=name)):
                moved.add(name)
            case ir.AssignExpr(op="+", target=ir.NameExpr(name=name), value=ir.NumberExpr()):
                moved.add(name)
            case ir.BinaryExpr(op=op, left=left, right=right):
                sides = (left, right) if op in ORDERED or op in ("==", "!=") else (right,) if op == "-" else ()
                limited |= {side.name for side in map(without_casts, sides) if isinstance(side, ir.NameExpr)}
    for name in sorted(moved - limited):
        kind = kinds.get(name, "")
        if kind.endswith("*") and plain(kind[:-1]) in BYTES and plain(kind[:-1]) != "void":
            yield name
