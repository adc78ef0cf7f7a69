"""Number values by the text of their expressions: elements at unknown indexes, and numbers that are computed again."""

import re
from functools import lru_cache

from jarvis_workers.dataflow import ir
from jarvis_workers.dataflow.queries.ast_queries import walk
from jarvis_workers.dataflow.queries.name_heuristics import is_pure
from jarvis_workers.dataflow.queries.pretty import OMITTED, text_of
from jarvis_workers.dataflow.state.path import PathState
from jarvis_workers.dataflow.state.values import MAYBE_NULL, Place, Value

WORDS = re.compile(r"\w+")
MARK = "="
# Elements and computed numbers that are remembered by their text.
COMPOUND = frozenset((ir.IndexExpr, ir.BinaryExpr, ir.CallExpr))
PURE = frozenset(
    (ir.NameExpr, ir.NumberExpr, ir.MemberExpr, ir.ArrowExpr, ir.IndexExpr, ir.DerefExpr, ir.BinaryExpr, ir.CastExpr)
)


def remember(path: PathState, target: ir.Expression, value: Value) -> None:
    """Remember a pointer that may be NULL, and is now in an element at an unknown index."""
    forget(path, None)
    if value.null == MAYBE_NULL and value.target is not None:
        keep_by_text(path, target, value)


def keep_by_text(path: PathState, e: ir.Expression, value: Value) -> None:
    """Remember the value of an element or of a number that the same expression computes again."""
    place = _place(path, e)
    if place is not None:
        path.machine.execution.has_elements = True
        path.cells[place] = value


def recalled(path: PathState, e: ir.Expression) -> Value | None:
    """Return what was stored in an element; None if that is unknown."""
    place = _place(path, e)
    return path.cells.get(place) if place is not None else None


def forget(path: PathState, name: str | None) -> None:
    """Forget the elements whose text contains a variable, or all of them."""
    if path.machine.execution.has_elements:
        for place in [one for one in path.cells if one[0].startswith(MARK)]:
            if name is None or name in words_in(place[0]):
                del path.cells[place]


@lru_cache(1024)
def words_in(text: str) -> frozenset[str]:
    """Return the names in the text of an expression."""
    return frozenset(WORDS.findall(text))


def _pure_text(e: ir.Expression) -> str | None:
    """Return the text of an expression that has no effects, and is short enough to be unique."""
    for node in walk(e):
        match node:
            case ir.CallExpr(callee=ir.NameExpr(name=name)) if is_pure(name):
                pass
            case _ if type(node) not in PURE:
                return None
    text = text_of(e)
    return None if OMITTED in text else text


def _place(path: PathState, e: ir.Expression) -> Place | None:
    text = path.machine.once(e, lambda: _pure_text(e), "text") if type(e) in COMPOUND else None
    return None if text is None else (f"{MARK}{path.frame.number}:{text}", "")
