"""The line counts of a run: their report, the files and the page of the run, and the last line of commands."""

import json
from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Any

from jarvis_cli.kit import exits
from jarvis_cli.kit.run_results import print_paths
from jarvis_cli.kit.status_output import Display
from jarvis_workers.errors import UsageError
from jarvis_workers.runs.run_kinds import StoredRun, text_panel
from jarvis_workers.store import artifacts


def read_lines(stored: StoredRun) -> dict[str, Any]:
    with stored.store.read() as session:
        report = artifacts.find(session, stored.run.id, "report")
    if report is None:
        raise UsageError(f"run {stored.run.id} is {stored.run.state}: its lines are not added up")
    found: dict[str, Any] = json.loads(stored.blobs.read(report))
    return found


def render(stored: StoredRun, form: str) -> Iterator[str]:
    if form not in ("text", "json"):
        raise UsageError(f'--format: "{form}" is not a format for lines; use text or json')
    found = read_lines(stored)
    rows = (f"{name}: {lines} lines\n" for name, lines in found["files"].items())
    yield from [json.dumps(found) + "\n"] if form == "json" else [*rows, f"all: {found['total']} lines\n"]


def graph(stored: StoredRun) -> Iterator[str]:
    yield f"<!doctype html><title>Lines</title><pre>{escape(''.join(render(stored, 'text')))}</pre>"


def panel(stored: StoredRun) -> Mapping[str, str] | None:
    return text_panel("lines", stored)


def conclude(stored: StoredRun, screen: Display) -> int:
    code = exits.of_state(stored.run.state)
    screen.conclude(f"run {stored.run.id} has {read_lines(stored)['total']} lines", well=code == exits.DONE)
    return code


def export(stored: StoredRun, directory: Path | None) -> int:
    path = (directory or Path()) / "lines.json"
    path.write_text("".join(render(stored, "json")))
    return print_paths([path])
