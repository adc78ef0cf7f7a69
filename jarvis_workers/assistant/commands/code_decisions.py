"""`jarvis code accept`, `reject`, `diff` and `list`."""

import json
from datetime import datetime
from pathlib import Path

import typer

from jarvis_cli.kit import exits
from jarvis_cli.kit.report_target import write_report
from jarvis_cli.kit.status_output import write_line
from jarvis_cli.kit.terminal_text import for_stdout
from jarvis_workers.assistant.chat.code_acceptance import accept_change
from jarvis_workers.assistant.chat.code_branches import (
    change_diff,
    code_rows,
    find_code_run,
    reject_change,
    require_change,
)
from jarvis_workers.assistant.chat.code_request import find_code_repository
from jarvis_workers.assistant.chat.repository_lock import lock_repository
from jarvis_workers.errors import UsageError
from jarvis_workers.paths import plain
from jarvis_workers.runs import wiring
from jarvis_workers.runs.scan_request import blobs_of
from jarvis_workers.settings import Settings, load_settings

COMMIT_LETTERS = 12


def accept(named: str, *, force: bool) -> int:
    """Bring the change of a run into the current branch."""
    settings, top = _here()
    with wiring.store_of(settings, tell=write_line, create=False) as store:
        blobs = blobs_of(settings)
        run = find_code_run(store, named, top)
        with lock_repository(require_change(store, blobs, run).repository().top, settings.data_dir):
            says = accept_change(store, blobs, run, settings.data_dir, force=force)
    typer.echo(f"run {run.id}: {plain(says)}", err=True)
    return exits.DONE


def reject(named: str, *, force: bool) -> int:
    """Drop the change of a run."""
    settings, top = _here()
    with wiring.store_of(settings, tell=write_line, create=False) as store:
        blobs = blobs_of(settings)
        run = find_code_run(store, named, top)
        with lock_repository(require_change(store, blobs, run).repository().top, settings.data_dir):
            reject_change(store, blobs, run, settings.data_dir, force=force)
    typer.echo(f"run {run.id}: its branch and its worktree are removed", err=True)
    return exits.DONE


def diff(named: str, *, full: bool) -> int:
    """Print the change of a run."""
    settings, top = _here()
    with wiring.store_of(settings, tell=write_line, create=False) as store:
        blobs = blobs_of(settings)
        change = require_change(store, blobs, find_code_run(store, named, top))
        if full:
            text = change_diff(store, change, settings.data_dir).decode("utf-8", "backslashreplace")
        else:
            text = "".join(f"{plain(line.expandtabs())}\n" for line in change.answer["preview"].split("\n"))
    write_report([for_stdout(text)], None)
    return exits.DONE


def list_changes(*, as_json: bool) -> int:
    """List the changes of the repository around the current directory."""
    settings, top = _here()
    if top is None:
        raise UsageError(f"{plain(str(Path.cwd()))} is not in a git repository")
    with wiring.store_of(settings, tell=write_line, create=False) as store:
        rows = code_rows(store, blobs_of(settings), top)
    if as_json:
        document = [{**row._asdict(), "run": row.run.id, "created_at": row.run.created_at} for row in rows]
        typer.echo(json.dumps(document, indent=2))
        return exits.DONE
    for row in rows:
        when = datetime.fromtimestamp(row.run.created_at).strftime("%Y-%m-%d %H:%M")
        state = row.decision or row.state
        typer.echo(
            plain(f"{row.run.id}  {when}  {state:<11} {row.commit[:COMMIT_LETTERS]:<12}  {row.subject}".rstrip())
        )
    if not rows:
        typer.echo("no changes yet; start one with: jarvis code -r TASK", err=True)
    return exits.DONE


def _here() -> tuple[Settings, Path | None]:
    """Return the settings, and the top of the repository around the current directory."""
    found = find_code_repository(Path.cwd())
    return load_settings(directory=Path.cwd()), found.top if found else None
