"""Functions that run programs and SQL, and open and close files: sinks of untrusted text."""

from jarvis_workers.dataflow.library.inputs import CHOSEN, ENVIRONMENT
from jarvis_workers.dataflow.library.model import Handlers, LibraryCall, taint_of
from jarvis_workers.dataflow.memory.ownership import make, release
from jarvis_workers.dataflow.queries.name_heuristics import listed
from jarvis_workers.dataflow.state.values import ANY, IS_NULL, MAYBE_NULL, OWNED_DESCRIPTOR, Object, Value

COMMAND, PROGRAM, STATEMENT, PATH, NAMED_BY_USER = 0.88, 0.85, 0.85, 0.6, 0.4
# To run the program that a variable such as EDITOR names is what the variable is for.
CHOSEN_BY_USER = 0.6
PIPES = ("popen", "_popen", "_wpopen")
NAMES_OF_STREAMS = ("fopen", "_wfopen", "wfopen", "opendir", "freopen")
NAMES_OF_DESCRIPTORS = ("open", "_open", "creat", "_wopen")


def _command(call: LibraryCall, arguments: int) -> None:
    """Check the first arguments, which become part of a command."""
    call.prove("harmless_command", holds=call.is_own_text(0))
    for value in call.values[:arguments]:
        step = taint_of(call.path, value)
        if step is not None:
            text = "runs a command that contains untrusted input"
            sure = CHOSEN_BY_USER if step.note == CHOSEN else COMMAND
            call.report("flow_command_injection", text, since=step, sure=sure)
            return


def _system(call: LibraryCall) -> Value:
    _command(call, 1 if "system" in call.name else 4)
    return ANY


def _exec(call: LibraryCall) -> Value:
    """Check the arguments of a program, given one by one or as an array."""
    arguments = list(call.values)
    name = call.name
    if "v" in name.rpartition("exec")[2] + name.rpartition("spawn")[2]:
        cells = call.path.cells.items()
        for value in call.values:
            arguments += [current for cell, current in cells if value.target and cell[0] == value.target]
    call.prove("harmless_command", holds=all(_is_plain(call, place) for place in range(len(call.values))))
    steps = (taint_of(call.path, value) for value in arguments)
    step = next((one for one in steps if one is not None), None)
    if step is not None:
        sure = CHOSEN_BY_USER if step.note == CHOSEN else PROGRAM
        call.report("flow_command_injection", "runs a program with untrusted arguments", since=step, sure=sure)
    return ANY


def _is_plain(call: LibraryCall, place: int) -> bool:
    """Return whether an argument is text of the program itself, or the terminating NULL."""
    return call.is_own_text(place) or call.value(place).null == IS_NULL


def _sql(call: LibraryCall) -> Value:
    step = taint_of(call.path, call.value(1))
    if step is not None:
        text = "runs an SQL statement that contains untrusted input"
        call.report("flow_sql_injection", text, since=step, sure=STATEMENT)
    return ANY


def _opens(call: LibraryCall) -> None:
    """Check the path of a file that is opened; the user may choose one on the command line or in the environment."""
    step = taint_of(call.path, call.value(0))
    if step is not None:
        text = "opens a path that contains untrusted input"
        is_of_user = "command line" in step.note or step.note in (CHOSEN, ENVIRONMENT)
        sure = NAMED_BY_USER if is_of_user else PATH
        call.report("flow_path_traversal", text, since=step, sure=sure)


def _fopen(call: LibraryCall) -> Value:
    if call.name in PIPES:
        _command(call, 1)
    elif call.name in NAMES_OF_STREAMS:
        _opens(call)
    if call.name == "freopen":
        # The result is the stream itself; if opening fails, the stream is closed.
        return call.value(2)._replace(null=MAYBE_NULL, why=call.path.note(call.line, "{} may return NULL", call.node))
    made = Object("stream", "fopen")
    value = make(call.path, call.node, made, null=MAYBE_NULL, note="{} may return NULL")
    if call.name == "fdopen" and value.target is not None:
        call.path.cells[value.target, OWNED_DESCRIPTOR] = call.value(0)
    return value


def _open(call: LibraryCall) -> Value:
    if call.name in NAMES_OF_DESCRIPTORS:
        _opens(call)
    family = "open" if call.name in (*NAMES_OF_DESCRIPTORS, "openat") else ""
    value = make(call.path, call.node, Object("descriptor", family), null=0, note="opened by {}")
    return value._replace(range=(-1, None))


def _fclose(call: LibraryCall) -> Value:
    if call.values:
        if call.name != "closedir":
            call.use(0)
        release(call.path, call.node.args[0], call.values[0], "fopen", call.line)
    return ANY


def _close(call: LibraryCall) -> Value:
    if call.object(0) is not None:
        release(call.path, call.node.args[0], call.values[0], "open", call.line)
    return ANY


EXEC = """
    execl execlp execle execv execvp execvpe execve _execl _execlp _wexecl _wexeclp _execv _execvp _wexecv _wexecvp
    _spawnl _spawnlp _wspawnl _wspawnlp _spawnv _spawnvp _wspawnv _wspawnvp posix_spawn CreateProcess
"""
HANDLERS: Handlers = (
    (listed("system _wsystem ShellExecute ShellExecuteA ShellExecuteW WinExec wsystem"), _system),
    (listed(EXEC), _exec),
    (listed("sqlite3_exec sqlite3_prepare sqlite3_prepare_v2 mysql_query mysql_real_query PQexec SQLExecDirect"), _sql),
    (listed("fopen _wfopen wfopen popen _popen _wpopen tmpfile fdopen opendir freopen"), _fopen),
    (listed("open _open creat _wopen socket accept dup openat"), _open),
    (listed("fclose pclose _pclose closedir gzclose"), _fclose),
    (listed("close _close closesocket"), _close),
)
