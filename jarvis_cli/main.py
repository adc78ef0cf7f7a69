"""Entry points: run a command, and turn its outcome into one line and an exit code.

COMMANDS lists each group with its module and its summary, so that `jarvis --help` imports none of them: the module of a
group is imported when one of its commands runs. A command returns its exit code or raises `typer.Exit`; all other
exceptions are handled here.
"""

import os
import select
import sys
import traceback
from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, TextIO

import typer
from typer.core import TyperGroup

from jarvis_cli.kit import exits
from jarvis_cli.kit.app import App, Frame, HelpGroup
from jarvis_cli.kit.process_limits import check_limits
from jarvis_cli.kit.standard_streams import prepare_standard_streams
from jarvis_cli.kit.status_output import write_line
from jarvis_workers import telemetry
from jarvis_workers.errors import CommandFailed, JarvisError, OutputFailed
from jarvis_workers.extras import advice, extra_of
from jarvis_workers.paths import plain

# Some versions of typer bundle click, others depend on it; its exceptions are reached through one that typer exports.
CommandLineError: type[Exception] = typer.BadParameter.__mro__[2]

EXAMPLES = """\
\b
Examples:
  jarvis sec fast                       scan this directory
  jarvis sec fast src -o report.html    scan src; also .json .sarif .md
  jarvis sec fast --fail-on high -q     for CI: exit 1 on a high finding
  jarvis runs list                      earlier runs
  jarvis doctor                         check the installation

\b
Exit codes:
  0 done      1 findings at or above --fail-on      2 usage error or failure
  3 something was not checked, or paused      4 wait timed out, run continues
"""

COMPLETION = ("install_completion", "show_completion")


class Command(NamedTuple):
    """A command or group of commands: its typer app as "module:name", and its summary."""

    place: str
    help: str


COMMANDS = {
    "sec": Command("jarvis_workers.sec.commands.main:app", "Find vulnerabilities in C, C++ and Rust."),
    "agent": Command(
        "jarvis_workers.assistant.commands.agent:app", "Give an agent a task on a source tree, or converse with it."
    ),
    "code": Command("jarvis_workers.assistant.commands.code:app", "Let an agent change code, on a branch of its own."),
    "team": Command("jarvis_workers.assistant.commands.team:app", "Give a team of agents a task on a source tree."),
    "memory": Command(
        "jarvis_workers.assistant.commands.memory:app", "List, organize, export and import memories of agents."
    ),
    "c2rust": Command("jarvis_workers.c2rust.commands.main:app", "Read a C project, and convert it to Rust."),
    "runs": Command("jarvis_cli.runs:app", "List, watch, stop, resume and report runs."),
    "worker": Command("jarvis_cli.worker:app", "Run cluster workers."),
    "web": Command("jarvis_cli.web:app", "Serve a web interface to runs, findings and triage."),
    "metrics": Command("jarvis_cli.metrics:app", "Serve metrics to Prometheus."),
    "config": Command("jarvis_cli.config:app", "Show the settings, and where each comes from."),
    "doctor": Command("jarvis_cli.doctor:app", "Check the installation."),
    "sandbox": Command("jarvis_cli.sandbox:app", "Run commands in a sandbox."),
    "k8s": Command("jarvis_cli.k8s:app", "Render Kubernetes manifests."),
    "admin": Command("jarvis_cli.admin:app", "Manage the results database."),
}


class LazyGroup(HelpGroup):
    """Lists COMMANDS by name, and imports a command when it runs."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        for name, command in COMMANDS.items():
            self.add_command(TyperGroup(name=name, help=command.help), name)

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        name, stub, rest = super().resolve_command(ctx, args)
        return name, stub and load(stub.name or ""), rest


app = App(cls=LazyGroup, epilog=EXAMPLES)


def load(name: str) -> Any:
    """Import the command or group with this name; only `jarvis` itself has the options to install completion."""
    module, _, attribute = COMMANDS[name].place.partition(":")
    command = typer.main.get_command(getattr(import_module(module), attribute))
    command.name, command.help = name, command.help or COMMANDS[name].help
    command.params = [option for option in command.params if option.name not in COMPLETION]
    return command


def _show_version(requested: bool) -> None:
    if requested:
        from jarvis_cli.kit.versions import versions  # noqa: PLC0415  (only needed here)

        typer.echo("\n".join(versions()))
        raise typer.Exit(exits.DONE)


@app.callback(invoke_without_command=True)
def jarvis(
    ctx: typer.Context,
    verbose: bool = typer.Option(False, "--verbose", "-v", help="Show the traceback of an internal error."),
    show_version: bool = typer.Option(
        False, "--version", is_eager=True, callback=_show_version, help="Show version information and exit."
    ),
) -> None:
    """Find vulnerabilities in C, C++ and Rust code bases of any size."""
    ctx.obj = replace(ctx.find_object(Frame) or Frame(), verbose=verbose)
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())


def main() -> None:
    """Run `jarvis`."""
    prepare_standard_streams()
    _leave(run(sys.argv[1:]))


def jarvis_sec() -> None:
    """Run `jarvis-sec` or `jsec`: as `jarvis sec`, with the report in ./report.md by default."""
    _run_as("sec", Frame(default_output=Path("report.md")))


def jarvis_agent() -> None:
    """Run `jarvis-agent` or `jvs`: as `jarvis agent`."""
    _run_as("agent")


def jarvis_c2rust() -> None:
    """Run `jarvis-c2rust` or `jc2r`: as `jarvis c2rust`."""
    _run_as("c2rust")


def jarvis_multi_agent() -> None:
    """Run `jarvis-multi-agent`: as `jarvis team`."""
    _run_as("team")


def jarvis_memory_organizer() -> None:
    """Run `jarvis-memory-organizer`: as `jarvis memory`."""
    _run_as("memory")


def jarvis_code_agent() -> None:
    """Run `jarvis-code-agent` or `jca`: as `jarvis code`."""
    _run_as("code")


def _run_as(command: str, frame: Frame | None = None) -> NoReturn:
    """Run a command or group under the name that it was started by."""
    prepare_standard_streams()
    _leave(run(sys.argv[1:], command=command, prog=Path(sys.argv[0]).name, frame=frame))


def run(args: Sequence[str], *, command: str | None = None, prog: str = "jarvis", frame: Frame | None = None) -> int:
    """Run a command line and return its exit code; errors are printed as one line on stderr."""
    try:
        with telemetry.notices(write_line):
            return _perform(list(args), command, prog, frame or Frame())
    except JarvisError as error:
        output = error.output if isinstance(error, CommandFailed) else ()
        return _end(exits.FAILED, "\n".join((f"{prog}: {plain(str(error))}", *map(plain, output))))
    except (KeyboardInterrupt, typer.Abort):
        _say(sys.stderr, f"{prog}: interrupted")
        return exits.INTERRUPTED
    except CommandLineError as error:
        return _end(exits.FAILED, _usage(error, prog))
    except Exception as error:  # noqa: BLE001  the outermost handler: a message and an exit code instead of a traceback
        if isinstance(error, BrokenPipeError) and _is_output_closed():
            return _end(exits.CLOSED_OUTPUT)
        return _end(exits.FAILED, _internal(error, prog, args))


def _perform(args: list[str], command: str | None, prog: str, frame: Frame) -> int:
    check_limits()
    try:
        Path.cwd()
    except FileNotFoundError as error:
        raise JarvisError("the current directory does not exist; change to another one") from error
    target = load(command) if command else typer.main.get_command(app)
    if f"_{prog.replace('-', '_').upper()}_COMPLETE" in os.environ:
        target.main(args, prog_name=prog)
    try:
        with target.make_context(prog, args, obj=frame) as ctx:
            code = target.invoke(ctx)
    except typer.Exit as end:
        code = end.exit_code
    _flush()
    return code if isinstance(code, int) else exits.DONE


def _flush() -> None:
    try:
        if sys.stdout:
            sys.stdout.flush()
    except (BrokenPipeError, OutputFailed):
        raise
    except OSError as error:
        raise OutputFailed(error.errno, error.strerror) from error


def _end(code: int, says: str = "") -> int:
    """Print a message and flush; on failure discard the output, so that Python does not write it again at exit."""
    _say(sys.stdout)
    _say(sys.stderr, says)
    return code


def _say(stream: TextIO | None, text: str = "") -> None:
    try:
        if stream:
            stream.write(f"{text}\n" if text else "")
            stream.flush()
    except OSError:
        _forget(stream)


def _leave(code: int) -> NoReturn:
    """Exit; after an interrupt, discard pending output rather than wait for a pager that no longer reads."""
    if code == exits.INTERRUPTED:
        _forget(sys.stdout)
    sys.exit(code)


def _forget(stream: TextIO | None) -> None:
    if stream:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _is_output_closed() -> bool:
    """Return whether the reader of stdout is gone, as in `jarvis … | head`, and not the reader of another pipe."""
    poll = select.poll()
    poll.register(1, 0)
    return any(state & select.POLLERR for _, state in poll.poll(0))


def _usage(error: Any, prog: str) -> str:
    """Return a message for an invalid command line: the error, a suggestion, and a reference to --help."""
    message = str(error.format_message())
    ctx = getattr(error, "ctx", None)
    if type(error).__name__ == "NoArgsIsHelpError" or ctx is None:
        return message if ctx else f"{prog}: {message}"
    stop = "" if message.endswith((".", "?", ")")) else "."
    message = plain(message)
    return f"{ctx.command_path}: {message}{stop} See: {ctx.command_path} --help"


def _internal(error: Exception, prog: str, args: Sequence[str]) -> str:
    module = (error.name or "") if isinstance(error, ModuleNotFoundError) else ""
    if extra := extra_of(module):
        return f"{prog}: this command needs {module}, which is not installed; {advice(extra)}"
    if {"-v", "--verbose"} & set(args) or os.environ.get("JARVIS_DEBUG"):
        return "".join(traceback.format_exception(error)).rstrip()
    says = plain(" ".join(f"{type(error).__name__}: {error}".split()))
    return f"{prog}: internal error: {says} (set JARVIS_DEBUG=1 for a traceback)"
