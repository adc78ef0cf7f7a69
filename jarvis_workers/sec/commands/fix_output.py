"""Output of `jarvis sec fix`: the patches, a line for each finding, a summary line, and the exit code."""

import json
from pathlib import Path
from typing import NamedTuple

from jarvis_cli.kit import exits
from jarvis_cli.kit.report_target import Delivery, write_report
from jarvis_cli.kit.run_outcome import counted, not_written
from jarvis_cli.kit.run_results import print_paths
from jarvis_cli.kit.status_output import Display, write_line
from jarvis_cli.kit.terminal_text import for_stdout
from jarvis_workers.errors import UsageError
from jarvis_workers.paths import plain
from jarvis_workers.runs.budgets import resume_flags
from jarvis_workers.runs.run_kinds import StoredRun
from jarvis_workers.runs.run_part import run_part
from jarvis_workers.sec.commands.output import pieces
from jarvis_workers.sec.fix_runs.fix_results import (
    FixReport,
    document,
    read_fixes,
    report_lines,
)
from jarvis_workers.sec.fix_runs.patch_delivery import PATCHES, publish_branch, write_patches
from jarvis_workers.sec.run_reports import reports
from jarvis_workers.sec.run_reports.run_files import directory_for, export_directory
from jarvis_workers.sec.runs.scan_runs import find_scan
from jarvis_workers.store.engine import Store
from jarvis_workers.words import cost_text

COMMIT_LETTERS = 12
MOST_NAMED = 5


class _Published(NamedTuple):
    """The commit of the branch of a run, None if it has no branch, or why the branch could not be written."""

    problem: str = ""
    commit: str | None = None


def deliver(stored: StoredRun, delivery: Delivery, screen: Display, *, directory: Path | None = None) -> int:
    """Write the patches, the branch and the report of a run; return the exit code."""
    _, store, blobs, run = stored
    report = read_fixes(store, blobs, run)
    published = _published(report)
    place = directory or export_directory(run)
    if report.is_final and place:
        write_patches(report, place, has_branch=not published.problem)
    _write(stored, report, delivery, published)
    return _conclude(store, report, screen, place, published)


def conclude(stored: StoredRun, screen: Display) -> int:
    """Write the branch of a run, print the summary line, and return the exit code."""
    fixes = read_fixes(stored.store, stored.blobs, stored.run)
    return _conclude(stored.store, fixes, screen, None, _published(fixes))


def report(stored: StoredRun, delivery: Delivery) -> int:
    """Write the report of a run, and return the exit code."""
    _, store, blobs, run = stored
    fixes = read_fixes(store, blobs, run)
    published = _published(fixes)
    _write(stored, fixes, delivery, published)
    code = exit_code(fixes, published.problem) if run.ended else exits.INCOMPLETE
    if code:
        write_line(f"exit {code}: {published.problem or _counts(fixes)}")
    return code


def export(stored: StoredRun, directory: Path | None) -> int:
    """Write the patches and the summary of a run; return the exit code. Raises UsageError."""
    _, store, blobs, run = stored
    place = directory_for(run, directory)
    fixes = read_fixes(store, blobs, run)
    if not fixes.is_final:
        raise UsageError(f"run {run.id} is {run.state}, and its patches are not combined yet")
    return print_paths(write_patches(fixes, place))


def exit_code(report: FixReport, problem: str = "") -> int:
    """Return the exit code of a run: REFUSED if a patch was refused, INCOMPLETE if a finding was not decided."""
    if report.run.state in {"cancelled", "failed"}:
        return exits.FAILED
    if problem or report.run.state != "done":
        return exits.INCOMPLETE
    return exits.REFUSED if report.counts["refused"] else exits.DONE


def _write(stored: StoredRun, fixes: FixReport, delivery: Delivery, published: _Published) -> None:
    """Write the results as text or JSON; the other formats are those of the scanned run, with the patches."""
    if delivery.form == "json":
        body = {
            **document(fixes, has_branch=not published.problem),
            "run": run_part(stored.store, fixes.run),
        }
        write_report([json.dumps(body, indent=2, ensure_ascii=False), "\n"], delivery.output)
    elif delivery.form == "text":
        write_report([for_stdout("\n".join(report_lines(fixes)), delivery.output), "\n"], delivery.output)
    else:
        scanned = find_scan(stored.store, fixes.options.scanned)
        body_of_scan = reports.read_body(stored.store, stored.blobs, scanned)
        write_report(pieces(stored._replace(run=scanned), body_of_scan, delivery), delivery.output)


def _published(report: FixReport) -> _Published:
    """Write the branch of a run, if it has one."""
    try:
        return _Published(commit=publish_branch(report))
    except (UsageError, OSError) as error:
        return _Published(problem=not_written("its branch", error, report.run))


def _conclude(store: Store, report: FixReport, screen: Display, place: Path | None, published: _Published) -> int:
    problem, commit = published
    run, code = report.run, exit_code(report, problem)
    parts = [f"run {run.id} {run.state}: {_counts(report)}", problem]
    part = run_part(store, run)
    if model := part["model"]:
        tokens = model["prompt"] + model["completion"]
        parts += [f"{counted(model['calls'], 'answer')}, {tokens:,} tokens, {cost_text(part['cost'])}"]
    if commit:
        parts += [f"branch {report.branch} at {commit[:COMMIT_LETTERS]}"]
    if place and report.is_final and report.fixed:
        parts += [f"patches: {plain(str(place / PATCHES))}"]
    if run.state == "paused":
        parts += [f"continue with: jarvis runs resume {run.id}{resume_flags(run)}"]
    elif run.ended and (rest := [result.finding.id for result in report.not_done]):
        parts += [f"fix the rest with: jarvis sec fix {report.options.scanned} {' '.join(rest[:MOST_NAMED])}"]
    screen.conclude("; ".join(filter(None, parts)), well=code == exits.DONE)
    return code


def _counts(report: FixReport) -> str:
    counts = report.counts
    text = f"of {counted(len(report.results), 'finding')} {counts['fixed']:,} fixed, {counts['refused']:,} refused"
    return f"{text}, {counts['not done']:,} NOT DONE" if counts["not done"] else text
