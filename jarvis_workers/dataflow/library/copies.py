"""Functions that copy and fill memory and strings."""

from jarvis_workers.dataflow.ir.expr import AddressExpr
from jarvis_workers.dataflow.library.model import Handlers, LibraryCall, change, set_text, text_length, use_text
from jarvis_workers.dataflow.memory.outside import copied_number, points_to_bytes
from jarvis_workers.dataflow.memory.ownership import is_own
from jarvis_workers.dataflow.memory.pointers import escape, escape_inside, forget_contents
from jarvis_workers.dataflow.queries.name_heuristics import listed
from jarvis_workers.dataflow.state.path import PathState
from jarvis_workers.dataflow.state.ranges import is_exact, least, plus, times
from jarvis_workers.dataflow.state.types import type_of
from jarvis_workers.dataflow.state.values import MEMORY, UNKNOWN, Object, Range, Value, number

# The size of an element, by function name.
COPY = {"wcscpy": 4, "lstrcpyW": 4}
APPEND = {"wcscat": 4}
COPY_N = {"wcsncpy": 4}
APPEND_N = {"wcsncat": 4}
COPY_BYTES = {"wmemcpy": 4, "wmemmove": 4}


def _strcpy(call: LibraryCall) -> Value:
    element = COPY.get(call.name, 1)
    use_text(call, 1)
    length, source = text_length(call.path, call.value(1)), call.object(1)
    call.starts_inside(1)
    need = times(plus(length, (1, 1)), element)
    if length[1] is None and source is not None and source.taint and source.size[1] is not None:
        need = (need[0], source.size[1])
    call.write(0, need)
    own = call.is_own_text(1)
    set_text(call.path, call.value(0), element, length, source.taint if source else None, own=own)
    return call.value(0)


def _strcat(call: LibraryCall) -> Value:
    use_text(call, 1)
    added = text_length(call.path, call.value(1))
    return _append(call, text_length(call.path, call.value(0)), added, APPEND.get(call.name, 1))


def _strncat(call: LibraryCall) -> Value:
    call.use(1)
    first, second = text_length(call.path, call.value(0)), text_length(call.path, call.value(1))
    count = call.value(2).range
    added = (min(second[0] or 0, count[0] or 0), least(second[1], count[1]))
    return _append(call, first, added, APPEND_N.get(call.name, 1))


def _append(call: LibraryCall, first: Range, added: Range, element: int) -> Value:
    length = plus(first, added)
    call.starts_inside(1)
    call.write(0, times(plus(length, (1, 1)), element))
    source, target = call.object(1), call.object(0)
    taint = (source.taint if source else None) or (target.taint if target else None)
    own = call.is_own_text(0) and call.is_own_text(1)
    set_text(call.path, call.value(0), element, length, taint, own=own)
    return call.value(0)


def _strncpy(call: LibraryCall) -> Value:
    """Model strncpy, which does not terminate a string that is at least `count` long."""
    element, count = COPY_N.get(call.name, 1), call.value(2)
    call.use(1)
    call.takes_length(2)
    call.write(0, times(count.range, element))
    call.starts_inside(1)
    source, to = call.object(1), call.value(0)
    taint = source.taint if source else None
    length, low = text_length(call.path, call.value(1)), count.range[0]
    if length[0] is not None and low is not None and is_exact(count.range) and length[0] >= low:
        change(call.path, to, filled=low, length=UNKNOWN, unset_from=None, taint=taint)
    else:
        set_text(call.path, to, element, length, taint)
    return to


def _memcpy(call: LibraryCall) -> Value:
    to, origin = (1, 0) if call.name == "bcopy" else (0, 1)
    amount = times(call.value(2).range, COPY_BYTES.get(call.name, 1))
    call.takes_length(2, to)
    call.write(to, amount)
    if len(call.node.args) > 2 and call.name not in COPY_BYTES:
        call.fits(to, call.node.args[2])
    call.read(origin, amount)
    path, value, source = call.path, call.value(to), call.object(origin)
    if source is not None and source.kind in MEMORY:
        _copy_text(call, to, origin, amount, source)
    elif path.object_of(value) is not None:
        change(path, value, length=UNKNOWN, filled=0, unset_from=None)
    elif value.target is not None:
        forget_contents(path, value.target, keep=False)
    _copy_cells(path, call.value(origin), value)
    _copy_number(call, to, origin)
    return value


def _copy_number(call: LibraryCall, to: int, origin: int) -> None:
    """Record that a variable gets its bytes from a buffer: they are outside data unless this function wrote them."""
    path, value, source = call.path, call.value(to), call.value(origin)
    if value.target is None or value.target in path.objects or origin >= len(call.node.args):
        return
    memory = path.object_of(source)
    taint = memory.taint if memory is not None else None
    if memory is None and not path.cells_of(source.target):
        part = call.node.args[origin]
        if not isinstance(part, AddressExpr) and type_of(path, call.node.args[to]) not in ("void*", "char*"):
            taint = copied_number(path, part) if points_to_bytes(path, part) else None
    if taint is not None:
        path.cells[value.target, value.code or ""] = Value(taint=taint)


def _copy_text(call: LibraryCall, to: int, origin: int, amount: Range, source: Object) -> None:
    target, low = call.object(to), amount[0]
    if target is None:
        return
    length = text_length(call.path, call.value(origin))
    exact = low is not None and is_exact(amount)
    whole = exact and length[1] is not None and (low or 0) >= (length[1] + 1) * source.element
    filled = min((low or 0) // target.element, source.filled) if exact else 0
    taint = source.taint or target.taint
    change(call.path, call.value(to), length=length if whole else UNKNOWN, filled=filled, unset_from=None, taint=taint)


def _copy_cells(path: PathState, source: Value, target: Value) -> None:
    """Copy the contents of one object to another; what a pointer in it refers to may have two owners afterwards."""
    key, part, before = target.target, target.code or "", len(source.code or "")
    if key is not None and key in path.objects:
        for cell in path.cells_of(key):
            if cell[1] != "&" and cell[1].startswith(part):
                escape(path, path.cells.pop(cell))
    for cell, value in list(path.cells.items()) if source.target is not None else ():
        if cell[0] != source.target or cell[1] == "&" or not cell[1].startswith(source.code or ""):
            continue
        if key is not None:
            path.cells[key, part + cell[1][before:]] = value
        if key is None or not is_own(path, (key, cell[1])):
            escape(path, value)


def _memset(call: LibraryCall) -> Value:
    zeroing = call.name in ("bzero", "explicit_bzero")
    count = 1 if zeroing else 2
    byte = number(0) if zeroing else call.value(1)
    amount = times(call.value(count).range, 4 if call.name == "wmemset" else 1)
    call.takes_length(count)
    call.write(0, amount)
    value = call.value(0)
    escape_inside(call.path, value.target or "")
    call.path.forget(value.target)
    target, low = call.object(0), amount[0]
    if target is None:
        return value
    if byte.range == (0, 0):
        change(call.path, value, length=(0, 0), filled=0, unset_from=None)
        return value
    whole = low is not None and is_exact(amount) and value.at == (0, 0)
    filled = (low or 0) // target.element if whole else 0
    change(call.path, value, length=UNKNOWN, filled=filled, unset_from=None)
    return value


HANDLERS: Handlers = (
    (listed("strcpy stpcpy wcscpy lstrcpy lstrcpyA lstrcpyW _mbscpy __builtin_strcpy"), _strcpy),
    (listed("strcat wcscat lstrcat _mbscat"), _strcat),
    (listed("strncpy wcsncpy stpncpy"), _strncpy),
    (listed("strncat wcsncat"), _strncat),
    (listed("memcpy memmove wmemcpy wmemmove mempcpy __builtin_memcpy CopyMemory bcopy"), _memcpy),
    (listed("memset wmemset __builtin_memset explicit_bzero bzero"), _memset),
)
