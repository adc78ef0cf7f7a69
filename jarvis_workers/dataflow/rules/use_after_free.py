"""flow_use_after_free: released memory is used, passed on or returned."""

from jarvis_workers.dataflow.events import on_return, on_use_after_free
from jarvis_workers.dataflow.ir.expr import Expression
from jarvis_workers.dataflow.ir.stmt import ReturnStmt
from jarvis_workers.dataflow.memory.ownership import follow_release
from jarvis_workers.dataflow.memory.pointers import doubt_of_element
from jarvis_workers.dataflow.queries.pretty import text_of
from jarvis_workers.dataflow.state.path import DOUBTED, SOMETIMES, FlowRule, PathState
from jarvis_workers.dataflow.state.values import OUT_OF_SCOPE, Object, Value

RULE = FlowRule("flow_use_after_free", DOUBTED, SOMETIMES)
# Code that gets a pointer, such as a function without a body, may not use it.
USED, PASSED_ON = 0.9, 0.82
# The caller may only compare the pointer with NULL.
RETURNED = 0.65


@on_use_after_free
def _used(path: PathState, pointer: Expression, value: Value, line: int, is_certain: bool) -> None:
    freed = path.objects[value.target or ""].freed
    if freed is not None and freed.note == OUT_OF_SCOPE:
        return
    sure = (USED if is_certain else PASSED_ON) - doubt_of_element(freed, pointer)
    RULE.report(path, line, f"{text_of(pointer)} is used after it was released", since=freed, sure=sure)
    follow_release(path, freed)


@on_return
def _returned(path: PathState, statement: ReturnStmt, target: Object) -> None:
    if target.freed is None or path.frame.depth or target.freed.note == OUT_OF_SCOPE:
        return
    if not _starts_thread(path):
        text = f"{text_of(statement.value)} is returned after it was released"
        RULE.report(path, statement.line, text, since=target.freed, sure=RETURNED)


def _starts_thread(path: PathState) -> bool:
    """Return whether a function has the type of a thread's start, whose result is a status to those who join it."""
    return [one.type for one in path.frame.function.params] == ["void*"]
