"""Print the list of runs."""

import json
from datetime import UTC, datetime
from typing import Any

import typer

from jarvis_cli import exits
from jarvis_workers.paths import plain
from jarvis_workers.service.run_list import list_runs, shown_state
from jarvis_workers.settings import Settings
from jarvis_workers.store.run_list import ListedRun

__all__ = ["print_runs"]


def print_runs(settings: Settings, limit: int, *, as_json: bool) -> int:
    """Print the newest runs, as a table or as JSON."""
    rows = [_row(run) for run in list_runs(settings, limit)]
    if as_json:
        typer.echo(json.dumps(rows, indent=2))
        return exits.DONE
    if not rows:
        typer.echo("no runs yet; start one with: jarvis sec fast -p PATH", err=True)
        return exits.DONE
    typer.echo(f"{'RUN':<10}{'KIND':<10}{'STATE':<12}{'CREATED':<21}{'FILES':>8}  ROOT")
    for row in rows:
        start = f"{row['id']:<10}{row['kind']:<10}{row['state']:<12}{row['created_at'][:19]:<21}"
        typer.echo(f"{start}{row['files']:>8,}  {plain(row['root'])}")
    return exits.DONE


def _row(run: ListedRun) -> dict[str, Any]:
    return {
        "id": run.id,
        "kind": run.kind,
        "state": shown_state(run),
        "created_at": datetime.fromtimestamp(run.created_at, UTC).isoformat(timespec="milliseconds"),
        "files": run.files,
        "root": run.root,
    }
