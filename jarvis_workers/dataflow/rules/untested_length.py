"""flow_buffer_overread: a buffer is read before the length that comes with it is compared, or up to a NUL."""

from jarvis_workers.dataflow import ir
from jarvis_workers.dataflow.events import Access, on_unknown_access
from jarvis_workers.dataflow.expressions.evaluate import array_of
from jarvis_workers.dataflow.ir.expr import Expression
from jarvis_workers.dataflow.library.model import LibraryCall, on_call, on_read
from jarvis_workers.dataflow.library.strings import TO_NUMBER
from jarvis_workers.dataflow.queries.name_heuristics import listed
from jarvis_workers.dataflow.queries.pretty import text_of
from jarvis_workers.dataflow.rules.buffer_access import OVERREAD
from jarvis_workers.dataflow.state.context import facts_of
from jarvis_workers.dataflow.state.path import PathState
from jarvis_workers.dataflow.state.ranges import is_exact, plus
from jarvis_workers.dataflow.state.types import type_of
from jarvis_workers.dataflow.state.values import Range

UNTESTED, NOT_TERMINATED, OF_OTHER = 0.48, 0.48, 0.55


@on_unknown_access
def _accessed(path: PathState, access: Access) -> None:
    """Report a read of a buffer at a fixed offset before the function looks at the length that comes with it."""
    if access.key in path.machine.execution.counted and not access.writing and not path.machine.mode.addressing:
        start = plus(access.value.at, access.subscript.range)
        _check_untested(path, access.key, access.pointer, start)


def _check_untested(path: PathState, key: str, pointer: Expression, start: Range, width: int = 1) -> None:
    """Report a read of `width` bytes of a buffer whose length the function has not yet compared, once a buffer."""
    machine = path.machine
    buffer = machine.execution.counted.get(key)
    if buffer is None or machine.mode.quiet or path.frame.depth or not is_exact(start):
        return
    is_first = start == (0, 0) and width == 1
    if machine.execution.line >= buffer.compared or (machine.execution.line >= buffer.tested and is_first):
        return
    text = f"{text_of(pointer)} is read before {buffer.length} is compared with the bytes that this needs"
    OVERREAD.report(path, machine.execution.line, text, sure=UNTESTED)
    del machine.execution.counted[key]


@on_read
def _read(call: LibraryCall, place: int, amount: Range) -> None:
    value, low = call.value(place), amount[0]
    if value.target in call.path.machine.execution.counted and low is not None and is_exact(amount):
        _check_untested(call.path, value.target or "", call.node.args[place], value.at, low)


@on_call("memcmp", "bcmp", "CRYPTO_memcmp", "timingsafe_bcmp")
def _compared(call: LibraryCall) -> None:
    """Report a comparison of buffers in two structs by the length of one, which is not compared with the other one."""
    match call.node.args:
        case (
            ir.ArrowExpr() | ir.MemberExpr() as first,
            ir.ArrowExpr() | ir.MemberExpr() as second,
            ir.ArrowExpr() | ir.MemberExpr() as length,
        ) if first.member == second.member and first.base != second.base and length.base in (first.base, second.base):
            other = length._replace(base=second.base if length.base == first.base else first.base)
        case _:
            return
    path = call.path
    kinds = [type_of(path, part) for part in (first, second, first.base, second.base)]
    if kinds[0] is None or not kinds[0].endswith("*") or array_of(path, first) is not None or kinds[2] != kinds[3]:
        return
    if frozenset((length, other)) in facts_of(path.frame.function).compared_pairs:
        return
    text = f"reads {text_of(length)} bytes of both, but {text_of(other)} may be less"
    call.report(OVERREAD, text, sure=OF_OTHER)


@on_call(*listed(TO_NUMBER))
def _ends_somewhere(call: LibraryCall) -> None:
    """Report a number that is read from text whose length is given: it need not end behind the text."""
    buffer = call.path.machine.execution.counted.get(call.value(0).target or "")
    if buffer is not None and buffer.compared <= call.line and not call.path.frame.depth:
        text = f"may read past the end of its text, which comes with its length {buffer.length}"
        call.report(OVERREAD, text, sure=NOT_TERMINATED)
