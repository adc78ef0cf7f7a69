"""Functions that run programs and SQL, and open and close files."""

from jarvis_workers.dataflow.library.model import Handlers, LibraryCall
from jarvis_workers.dataflow.memory.ownership import make, release_object
from jarvis_workers.dataflow.queries.name_heuristics import listed
from jarvis_workers.dataflow.state.values import ANY, MAYBE_NULL, OWNED_DESCRIPTOR, Object, Value


def _without_effects(call: LibraryCall) -> Value:
    return ANY


def _fopen(call: LibraryCall) -> Value:
    if call.name == "freopen":
        # The result is the stream itself; if opening fails, the stream is closed.
        return call.value(2)._replace(null=MAYBE_NULL, why=call.path.note(call.line, "{} may return NULL", call.node))
    made = Object("stream", "fopen")
    value = make(call.path, call.node, made, null=MAYBE_NULL, note="{} may return NULL")
    if call.name == "fdopen" and value.target is not None:
        call.path.cells[value.target, OWNED_DESCRIPTOR] = call.value(0)
    return value


def _open(call: LibraryCall) -> Value:
    family = "open" if call.name in OPENS else ""
    value = make(call.path, call.node, Object("descriptor", family), null=0, note="opened by {}")
    return value._replace(range=(-1, None))


def _fclose(call: LibraryCall) -> Value:
    if call.values:
        if call.name != "closedir":
            call.use(0)
        release_object(call.path, call.node.args[0], call.values[0], "fopen", call.line)
    return ANY


def _close(call: LibraryCall) -> Value:
    if call.object(0) is not None:
        release_object(call.path, call.node.args[0], call.values[0], "open", call.line)
    return ANY


SHELL = "system _wsystem ShellExecute ShellExecuteA ShellExecuteW WinExec wsystem"
SQL = "sqlite3_exec sqlite3_prepare sqlite3_prepare_v2 mysql_query mysql_real_query PQexec SQLExecDirect"
OPENS = frozenset(listed("open _open creat _wopen openat"))
EXEC = """
    execl execlp execle execv execvp execvpe execve _execl _execlp _wexecl _wexeclp _execv _execvp _wexecv _wexecvp
    _spawnl _spawnlp _wspawnl _wspawnlp _spawnv _spawnvp _wspawnv _wspawnvp posix_spawn CreateProcess
"""
HANDLERS: Handlers = (
    (listed(SHELL), _without_effects),
    (listed(EXEC), _without_effects),
    (listed(SQL), _without_effects),
    (listed("fopen _wfopen wfopen popen _popen _wpopen tmpfile fdopen opendir freopen"), _fopen),
    (listed("open _open creat _wopen socket accept dup openat"), _open),
    (listed("fclose pclose _pclose closedir gzclose"), _fclose),
    (listed("close _close closesocket"), _close),
)
