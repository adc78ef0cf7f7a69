"""Print the list of runs."""

import json
import shutil
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import typer

from jarvis_cli.kit import exits
from jarvis_workers.paths import plain
from jarvis_workers.runs.run_list import list_runs, shown_state
from jarvis_workers.settings import Settings
from jarvis_workers.store.run_list import ListedRun

COMMIT_DIGITS = 9
KIND_WIDTH, REVISION_WIDTH, LABEL_WIDTH = 10, 24, 16


def print_runs(settings: Settings, limit: int, labels: Sequence[tuple[str, str | None]] = (), *, as_json: bool) -> int:
    """Print the newest runs that have all the labels, as a table or as JSON."""
    rows = [_row(run) for run in list_runs(settings, limit, labels)]
    if as_json:
        typer.echo(json.dumps(rows, indent=2))
        return exits.DONE
    if not rows:
        nothing = "no run has these labels" if labels else "no runs yet; start one with: jarvis sec fast"
        typer.echo(nothing, err=True)
        return exits.DONE
    named = any(row["label"] for row in rows)
    kinds = max(KIND_WIDTH, *(len(row["kind"]) + 2 for row in rows))
    head = ("RUN", "KIND", "STATE", "CREATED", "FILES", "REVISION", "LABEL", "ROOT")
    typer.echo(_line(head, kinds, labels=named))
    for row in rows:
        version = revision(row["branch"], row["commit"], row["mark"]) or "-"
        made, files = f"{row['created_at'][:19]}Z", f"{row['files']:,}"
        facts = (row["id"], row["kind"], row["state"], made, files, version, row["label"] or "-", row["root"])
        typer.echo(_line(facts, kinds, labels=named))
    return exits.DONE


def revision(branch: str | None, commit: str | None, mark: str = "") -> str:
    """Return branch and abbreviated commit of a checkout with its mark, or "" if both are unknown."""
    digits = commit[:COMMIT_DIGITS] + mark if commit else None
    return " ".join(part for part in (branch, digits) if part)


def _line(facts: tuple[str, ...], kinds: int, *, labels: bool) -> str:
    """Format a row; `kinds` is the width of the column "kind". The column of labels exists only if a run has one."""
    run, kind, state, created, files, version, label, root = map(plain, facts)
    start = f"{run:<10}{kind:<{kinds}}{state:<12}{created:<21}{files:>8}  {_fit(version, REVISION_WIDTH)}"
    start += _fit(label, LABEL_WIDTH) if labels else ""
    return start + _fitted(root, len(start))


def _fitted(root: str, column: int) -> str:
    """Truncate a path at its beginning, so that the line does not wrap on the terminal."""
    room = max(12, shutil.get_terminal_size().columns - column)
    return root if len(root) <= room or not sys.stdout.isatty() else f"…{root[1 - room :]}"


def _fit(text: str, width: int) -> str:
    """Pad or truncate a text to a column; the end of a long text is kept."""
    cut = text if len(text) < width else f"…{text[len(text) - width + 2 :]}"
    return f"{cut:<{width}}"


def _row(run: ListedRun) -> dict[str, Any]:
    return {
        "id": run.id,
        "kind": run.kind,
        "state": shown_state(run),
        "created_at": datetime.fromtimestamp(run.created_at, UTC).isoformat(timespec="milliseconds"),
        "files": run.files,
        "root": run.root,
        "label": run.label or None,
        "branch": run.branch,
        "commit": run.commit,
        "mark": run.mark,
        "labels": dict(run.labels),
    }
