"""Execute `jarvis code`: one change, a session of changes at a terminal, or the rest of an interrupted one."""

import sys
from dataclasses import replace
from pathlib import Path

import typer

from jarvis_cli.kit import exits, run_control
from jarvis_cli.kit.answer_output import check_format
from jarvis_cli.kit.options import (
    form_of,
)
from jarvis_cli.kit.program_trust import approve_programs
from jarvis_cli.kit.project_run import RunCommand, deliver_as, execute_run
from jarvis_cli.kit.report_target import Delivery
from jarvis_cli.kit.report_target import delivery as delivery_of
from jarvis_cli.kit.status_output import Display, no_line, notices, write_line
from jarvis_workers.assistant.chat.code_session import CodeSession, check_request, create_session, find_session
from jarvis_workers.assistant.code.code_options import CodeRequest
from jarvis_workers.assistant.commands.code_options import CodeCommand
from jarvis_workers.assistant.commands.code_output import deliver
from jarvis_workers.assistant.commands.task_text import check_task, not_text, read_task
from jarvis_workers.errors import UsageError
from jarvis_workers.paths import plain
from jarvis_workers.runs.labels import parse_labels
from jarvis_workers.runs.request import RunInput, RunRequest
from jarvis_workers.runs.run_kinds import StoredRun
from jarvis_workers.runs.sources import SourceTree
from jarvis_workers.settings import Settings, load_settings
from jarvis_workers.store.values import Run

ENTERED = "the task"
PROMPT = "task (end with a blank line; nothing ends the session)> "


def change_code(options: CodeCommand) -> int:
    """Change the code of the repository around the current directory; return the exit code."""
    approve_programs(ask=_is_interactive(options) and not options.quiet)
    settings = load_settings(options.flags, directory=Path.cwd(), file=options.config)
    target = _checked(settings, options)
    task = "" if options.requirement is None else read_task(options.requirement, "-r")
    session, is_new = _open_session(settings, options)
    request = replace(options.request, with_changes=options.request.with_changes or is_new)
    with session.lock():
        if options.restore_session and (run := _unfinished(session, quiet=options.quiet)):
            if options.requirement is not None:
                raise UsageError(
                    f"--restore-session would continue run {run.id}, which has its own task: leave -r out, or leave "
                    "--restore-session out to start another run"
                )
            return run_control.resume(settings, run.id, target, options.budget, quiet=options.quiet)
        if options.requirement is not None:
            return _change(session, options, target, _with_task(request, task))
        if not _is_interactive(options):
            raise UsageError("there is nothing to restore; give a task with -r")
        return _loop(session, options, target, request)


def _with_task(request: CodeRequest, task: str) -> CodeRequest:
    return replace(request, options=replace(request.options, task=task))


def _is_interactive(options: CodeCommand) -> bool:
    return not options.non_interactive and sys.stdin is not None and sys.stdin.isatty()


def _checked(settings: Settings, options: CodeCommand) -> Delivery:
    """Check the options before any work is done, and return the target of the answer. Raises UsageError."""
    if options.requirement is None and not options.restore_session and not _is_interactive(options):
        why = "-n" if options.non_interactive else "without a terminal, jarvis code"
        raise UsageError(f"{why} needs a task: -r TASK, or -r - to read it from stdin")
    if options.detach and settings.place == "local":
        raise UsageError("--detach needs a cluster (JARVIS_BROKER_URL): a local run is executed by this command")
    target = delivery_of(options.output, form_of(options.form, options.as_json), None, None, quiet=options.quiet)
    check_format(target.form)
    check_request(settings, options.request, no_line if options.quiet else write_line)
    parse_labels(options.label or ())
    return target


def _open_session(settings: Settings, options: CodeCommand) -> tuple[CodeSession, bool]:
    """Open the repository around the current directory; return whether it is new: then a person agreed to that."""
    here = Path.cwd()
    if found := find_session(settings, here, write_line):
        return found, False
    if _is_interactive(options) and typer.confirm(f"{plain(str(here))} is not in a git repository; make it one?"):
        return create_session(settings, here, write_line), True
    raise UsageError(f"{plain(str(here))} is not in a git repository; make it one with: git init")


def _unfinished(session: CodeSession, *, quiet: bool) -> Run | None:
    """Return the newest run of the repository if it has not ended; else say that there is none."""
    run = session.unfinished()
    if run is None and not quiet:
        write_line("--restore-session: there is no unfinished run of this repository")
    return run


def _loop(session: CodeSession, options: CodeCommand, target: Delivery, request: CodeRequest) -> int:
    """Read tasks from the terminal until there are no more; return the exit code of the last one."""
    code = exits.DONE
    while task := _read_lines():
        code = _change(session, options, target, _with_task(request, task))
        request = session.continued(request)
    return code


def _change(session: CodeSession, options: CodeCommand, target: Delivery, request: CodeRequest) -> int:
    """Execute one run; return its exit code."""

    def make(_: SourceTree, executor: str, screen: Display) -> RunRequest[RunInput]:
        tell = notices(screen, quiet=options.quiet)
        return deliver_as(session.request(request, executor, tell), target)

    def finish(stored: StoredRun, screen: Display) -> int:
        session.last = stored.run
        return deliver(stored, target, screen)

    command = RunCommand(
        path=str(session.repository.top),
        request=make,
        deliver=finish,
        labels=parse_labels(options.label or ()),
        detach=options.detach,
        quiet=options.quiet,
    )
    code = execute_run(session.settings, command)
    if code == exits.DONE and session.settings.code.confirm and _is_interactive(options):
        session.accept_last(lambda: typer.confirm("accept this change?", err=True))
    return code


def _read_lines() -> str:
    """Return a task that a person enters, up to a blank line or the end of the input; "" for none."""
    lines = list[str]()
    try:
        while (line := input("" if lines else PROMPT)).strip():
            lines.append(line)
    except EOFError:
        typer.echo()
    except UnicodeError as error:
        raise not_text(ENTERED) from error
    return check_task("\n".join(lines), ENTERED) if lines else ""
