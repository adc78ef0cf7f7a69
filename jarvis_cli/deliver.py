"""End a command with what the user asked for: the report where it belongs, and the exit code."""

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jarvis_cli import exits
from jarvis_cli.progress import Display
from jarvis_workers.errors import UsageError
from jarvis_workers.sec.finding import SEVERITIES, is_at_least
from jarvis_workers.sec.report import FORMATS, format_of
from jarvis_workers.service import reports
from jarvis_workers.service.export import export, export_directory, write_whole
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.store.engine import Store
from jarvis_workers.store.runs import Run

STDOUT = "-"


@dataclass(frozen=True)
class Delivery:
    """Where a report goes (None: standard output), in which format, and what makes the command fail."""

    output: Path | None
    form: str
    fail_on: str | None = None


def delivery(output: str | None, form: str | None, fail_on: str | None, default_output: Path | None) -> Delivery:
    """Check what the user asked for, before any work is done."""
    path = default_output if output is None else None if output == STDOUT else Path(output)
    if form is not None and form not in FORMATS:
        raise UsageError(f'--format: "{form}" is not one of {", ".join(FORMATS)}')
    if fail_on is not None and fail_on not in SEVERITIES:
        raise UsageError(f'--fail-on: "{fail_on}" is not one of {", ".join(SEVERITIES)}')
    if path is not None and (path.is_dir() or not path.absolute().parent.is_dir()):
        problem = "is a directory" if path.is_dir() else "its directory is not there"
        raise UsageError(f"-o {path}: {problem}; name a file, or - for stdout")
    chosen = form or (format_of(path, "markdown") if path else "markdown")
    return Delivery(path, chosen, fail_on)


def deliver(store: Store, blobs: Blobs, run: Run, asked: Delivery, screen: Display) -> int:
    """Write the report and the run's files; return the exit code."""
    body, part = reports.read_body(store, blobs, run), reports.run_part(store, run)
    write_report(FORMATS[asked.form](body, part), asked.output)
    directory = export_directory(run)
    if directory:
        try:
            export(store, blobs, run, directory)
        except UsageError as problem:
            screen.tell(str(problem))
    screen.tell(summary(run, body, asked.output))
    return exit_code(run, body, asked.fail_on)


def write_report(text: str, output: Path | None) -> None:
    """Write to a file, whole or not at all, or to standard output."""
    if output is None:
        sys.stdout.flush()
        content = memoryview(text.encode("utf-8", "backslashreplace"))
        while content:
            content = content[os.write(1, content) :]
        return
    try:
        write_whole(output, text)
    except OSError as error:
        raise UsageError(f"-o {output}: cannot be written: {error.strerror}") from error


def exit_code(run: Run, body: dict[str, Any], fail_on: str | None) -> int:
    """Return the exit code of a run that is over, or paused."""
    if run.state in {"cancelled", "failed"}:
        return exits.FAILED
    findings = fail_on is not None and any(is_at_least(issue["severity"], fail_on) for issue in body["issues"])
    return exits.of_run(findings=findings, incomplete=run.state != "done")


def summary(run: Run, body: dict[str, Any], output: Path | None) -> str:
    """Say in a line how it ended."""
    found = body["summary"]
    missing = len(found["not_checked"])
    said = f"run {run.id} {run.state}: {found['total']:,} findings in {found['scanned_files']:,} files"
    if missing:
        said += f"; NOT CHECKED: {missing:,} (named in the report)"
    if run.state == "paused":
        said += f"; paused ({run.reason}); go on with: jarvis runs resume {run.id}"
    return said + (f"; report: {output}" if output else "")
