"""Remember what a function stores in an element at an unknown index, by the text of the lvalue.

`rows[i] = p; if (!rows[i]) return;` checks `p`. The text means the same element until a variable in it is declared or
assigned, another element at an unknown index is assigned, or a function is called, except one that prints.
"""

import re
from functools import lru_cache

from jarvis_workers.dataflow import ir
from jarvis_workers.dataflow.queries.ast_queries import walk
from jarvis_workers.dataflow.queries.pretty import OMITTED, text_of
from jarvis_workers.dataflow.state.path import PathState
from jarvis_workers.dataflow.state.values import MAYBE_NULL, Place, Value

WORDS = re.compile(r"\w+")
MARK = "="
PURE = frozenset(
    (ir.NameExpr, ir.NumberExpr, ir.MemberExpr, ir.ArrowExpr, ir.IndexExpr, ir.DerefExpr, ir.BinaryExpr, ir.CastExpr)
)


def remember(path: PathState, target: ir.Expression, value: Value) -> None:
    """Remember a pointer that may be NULL, and is now in an element at an unknown index."""
    forget(path, None)
    if value.null == MAYBE_NULL and value.target is not None:
        place = _place(path, target)
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


def _is_pure(e: ir.Expression) -> bool:
    return all(type(node) in PURE for node in walk(e))


def _place(path: PathState, e: ir.Expression) -> Place | None:
    if type(e) is not ir.IndexExpr or not path.machine.once(e, lambda: _is_pure(e), "pure"):
        return None
    text = text_of(e)
    return None if OMITTED in text else (f"{MARK}{path.frame.number}:{text}", "")
