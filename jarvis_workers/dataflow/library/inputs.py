"""Functions that read untrusted input."""

from jarvis_workers.dataflow.expressions.lvalues import name_target
from jarvis_workers.dataflow.ir.expr import (
    AddressExpr,
    ArrowExpr,
    BinaryExpr,
    MemberExpr,
    NameExpr,
    NumberExpr,
    SizeofExpr,
)
from jarvis_workers.dataflow.library.model import Handlers, LibraryCall, change, offset_of, use_text
from jarvis_workers.dataflow.memory.extents import room
from jarvis_workers.dataflow.memory.outside import read_pointer
from jarvis_workers.dataflow.memory.pointers import forget_contents
from jarvis_workers.dataflow.queries.ast_queries import without_casts
from jarvis_workers.dataflow.queries.name_heuristics import listed
from jarvis_workers.dataflow.state.path import PathState
from jarvis_workers.dataflow.state.ranges import arithmetic, is_exact, times
from jarvis_workers.dataflow.state.values import ANY, MAYBE_NULL, MEMORY, UNKNOWN, Object, PathEvent, Value

# Only the name of a function says that it reads.
NAMED_DOUBT = 0.1
# Environment variables by which users choose programs (POSIX.1-2017, XBD 8.3, and customary ones), and their event.
PROGRAMS = frozenset(listed("SHELL EDITOR VISUAL PAGER FCEDIT BROWSER COMSPEC"))
CHOSEN = "{} reads the name of a program that the user chooses"
ENVIRONMENT = "{} reads the environment"
# What a web server passes to a CGI program comes from its clients (RFC 3875, section 4.1).
OF_CLIENTS = frozenset(
    listed("CONTENT_TYPE PATH_INFO PATH_TRANSLATED QUERY_STRING REMOTE_USER REQUEST_URI SCRIPT_FILENAME SCRIPT_NAME")
)
SIZES = (NumberExpr, SizeofExpr, BinaryExpr, NameExpr, MemberExpr, ArrowExpr)


def _taint(path: PathState, value: Value, step: PathEvent) -> None:
    """Mark the memory that a pointer refers to as input."""
    taint_memory(path, value, path.outside(step))


def taint_memory(path: PathState, value: Value, step: PathEvent | None) -> None:
    """Mark the memory that a pointer refers to as tainted, or as set to data that is not."""
    key = value.target
    if path.object_of(value) is not None:
        change(path, value, taint=step, length=UNKNOWN, unset_from=None, filled=0)
    elif key is not None:
        cell = (key, value.code or "")
        for part in [one for one in path.cells_of(key) if one != cell and one[1].startswith(cell[1] + ".")]:
            del path.cells[part]
        if cell not in path.cells or key.partition(":")[0].isdigit():
            path.cells[cell] = Value(taint=step)
        else:
            path.objects[key] = Object("other", taint=step)


def _getenv(call: LibraryCall) -> Value:
    """Model getenv, which returns the same value for the same name."""
    path, name = call.path, call.object(0)
    cell = (f"env:{call.value(0).target}", "")
    if name is not None and name.kind == "text" and cell in path.cells:
        return path.cells[cell]
    variable = (call.value(0).target or "").rpartition(":")[2]
    if variable in OF_CLIENTS or variable.startswith("HTTP_"):
        step = call.bring_in()
    else:
        step = path.note(call.line, CHOSEN if variable in PROGRAMS else ENVIRONMENT, call.node)
    key = path.machine.name("e")
    path.objects[key] = Object("other", taint=path.outside(step), made=step)
    value = Value(target=key, null=MAYBE_NULL, why=step)
    if name is not None and name.kind == "text":
        path.cells[cell] = value
    return value


def _fgets(call: LibraryCall) -> Value:
    element = 4 if "w" in call.name else 1
    bounded = call.name in ("fgets", "fgetws")
    if bounded:
        call.use(2)
        call.write(0, times(call.value(1).range, element))
    value = call.value(0)
    _taint(call.path, value, call.bring_in())
    limit, offset = call.value(1).range[1], offset_of(value, element)
    if bounded and limit is not None and offset is not None:
        change(call.path, value, length=(min(1, limit - 1), offset + limit - 1))
    return value._replace(null=0, why=None)


def _recv(call: LibraryCall) -> Value:
    stream = call.name == "fread"
    place, count = (0 if stream else 1), call.value(2).range
    if stream:
        count = arithmetic("*", call.value(1).range, count)
        call.use(3)
    if len(call.node.args) > 2:
        size = BinaryExpr("b", "*", *call.node.args[1:3]) if stream else call.node.args[2]
        if not call.fits(place, size):
            call.takes_length(2, place)
    call.write(place, count)
    value = call.value(place)
    if value.target is None and place < len(call.node.args):
        value = name_target(call.path, call.node.args[place], value)
    step = call.bring_in()
    _taint(call.path, value, step)
    _mark_pointer(call, place)
    memory = call.path.object_of(value)
    if memory is not None and memory.element == 1 and is_exact(count) and count[0] == room(value, memory):
        change(call.path, value, full=step)
    return Value((0 if stream else -1, count[1]))


def _copy_from_user(call: LibraryCall) -> Value:
    """Model copy_from_user of Linux, which returns how much it did not copy."""
    call.takes_length(2)
    call.write(0, call.value(2).range)
    _taint(call.path, call.value(0), call.bring_in())
    _mark_pointer(call, 0)
    return Value((0, None))


def _mark_pointer(call: LibraryCall, place: int) -> None:
    """Mark a pointer variable whose bytes were read."""
    part = without_casts(call.node.args[place]) if place < len(call.node.args) else None
    if not isinstance(part, AddressExpr):
        return
    cell = (call.value(place).target or "", call.value(place).code or "")
    current = call.path.cells.get(cell)
    if current is not None and current.taint is not None:
        call.path.cells[cell] = read_pointer(call.path, part.operand, current)


def _scanf(call: LibraryCall) -> Value:
    """Model scanf; values read from a string are untrusted only if the string is."""
    first = 1 if call.name in ("scanf", "wscanf", "scanf_s") else 2
    if first == 2:
        use_text(call, 0)
    outside = True
    if call.name in ("sscanf", "swscanf"):
        source = call.object(0)
        outside = source is not None and source.taint is not None
    step = call.bring_in() if outside else None
    path = call.path
    for value in call.values[first:]:
        if value.target is None:
            continue
        if step is not None:
            _taint(path, value, step)
            if call.value(first - 1).target == "t:1:%p":
                _mark_pointer(call, first)
            continue
        forget_contents(path, value.target, keep=False)
        if value.target not in path.objects:
            path.cells.pop((value.target, value.code or ""), None)
    return ANY


def _getc(call: LibraryCall) -> Value:
    call.use(0)
    return Value((-1, 255))


def receive(call: LibraryCall) -> None:
    """Model a function that is named like one that reads into memory: a pointer and a size follow each other."""
    path, node = call.path, call.node
    for place, (value, size) in enumerate(zip(call.values, call.values[1:], strict=False)):
        memory = path.object_of(value)
        local = (value.target or "").partition(":")[0].isdigit()
        if (
            value.target is None
            or size.target is not None
            or not (local or (memory is not None and memory.kind in MEMORY))
        ):
            continue
        if isinstance(node.args[place + 1], SIZES):
            note = "{} seems to read untrusted input"
            _taint(path, value, PathEvent(None, path.frame.file, call.line, note, node, NAMED_DOUBT))
            return


HANDLERS: Handlers = (
    (["getenv", "secure_getenv", "_wgetenv"], _getenv),
    (["fgets", "fgetws", "gets", "_getws", "gets_s"], _fgets),
    (["recv", "recvfrom", "read", "_read", "fread", "readlink", "SSL_read", "BIO_read"], _recv),
    (["copy_from_user", "__copy_from_user"], _copy_from_user),
    (listed("scanf fscanf wscanf fwscanf sscanf swscanf vscanf fscanf_s scanf_s"), _scanf),
    (["getchar", "getc", "fgetc", "getwc", "fgetwc"], _getc),
)
