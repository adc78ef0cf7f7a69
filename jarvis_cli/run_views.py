"""Display runs and their results: implementation of commands of `jarvis runs`."""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import typer

from jarvis_cli import (
    agent_output,
    code_output,
    conversion_output,
    exits,
    fix_output,
    interface_output,
    optimize_output,
    replacement_output,
    symbol_output,
)
from jarvis_cli.fix_output import export_fixes
from jarvis_cli.output import pieces
from jarvis_cli.progress import describe, rate_of
from jarvis_cli.report_target import Delivery, write_report
from jarvis_cli.run_list import revision
from jarvis_cli.run_outcome import counted, exit_code, exit_reason
from jarvis_cli.status_output import write_line
from jarvis_workers.errors import UsageError
from jarvis_workers.paths import plain
from jarvis_workers.service import conversations, runs, wiring
from jarvis_workers.service.assistant.code_branches import is_code
from jarvis_workers.service.budgets import resume_flags
from jarvis_workers.service.c2rust.conversion_results import export_conversion, is_conversion, pause_advice
from jarvis_workers.service.c2rust.interface_results import export_interface, is_interface
from jarvis_workers.service.c2rust.optimize_results import OptimizeResult, is_optimization
from jarvis_workers.service.c2rust.partial_crate import has_partial_crate, remove_abandoned
from jarvis_workers.service.c2rust.replacement_results import ReplacementResult, is_replacement
from jarvis_workers.service.c2rust.scan_results import export_symbols, is_symbol_scan
from jarvis_workers.service.fixes.fix_results import is_fix
from jarvis_workers.service.health import unserved_queues
from jarvis_workers.service.health.delays import delays
from jarvis_workers.service.progress_units import units_of
from jarvis_workers.service.reports import reports
from jarvis_workers.service.reports.export import export as export_files
from jarvis_workers.service.reports.run_files import export_directory
from jarvis_workers.service.scan_request import blobs_of
from jarvis_workers.service.scan_runs import scan_of
from jarvis_workers.settings import Settings
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Run
from jarvis_workers.words import commit_mark, cost_text

MOST_LISTED = 20
ANSWER_DAYS = 90.0
SHOWN = (
    "id",
    "label",
    "kind",
    "state",
    "reason",
    "scanned_root",
    "created_at",
    "ended_at",
    "seconds",
    "executor",
    "version",
)


def show(settings: Settings, run: str, *, as_json: bool) -> int:
    """Print the state of a run, its stages, and the suggested next command."""
    with wiring.store_of(settings, create=False) as store:
        target_run = runs.find_run(store, run)
        part = reports.run_part(store, target_run) | {
            "abandoned": runs.is_abandoned(store, target_run, settings.lease_seconds)
        }
        part["labels"] = runs.labels_of(store, [target_run.id])[target_run.id]
        stages = runs.stages_of(store, target_run)
        talks = conversations.jobs_of(store, target_run)
        unserved = (
            [] if runs.is_local(target_run) else unserved_queues.unserved(store, target_run.id, settings.lease_seconds)
        )
        waits = delays(store, target_run.id)
        part["left_out"] = conversations.left_out_files(store, blobs_of(settings), target_run)
    if as_json:
        typer.echo(json.dumps(part | {"delays": waits}, indent=2))
        return exits.DONE
    for name in SHOWN:
        if part.get(name) is not None:
            typer.echo(f"{name:<14}{plain(str(part[name]))}")
    if checkout := part.get("checkout"):
        typer.echo(f"{'checkout':<14}{plain(revision(checkout['branch'], checkout['commit'], commit_mark(checkout)))}")
    if part["labels"]:
        labels = ", ".join(f"{key}={value}" for key, value in part["labels"].items())
        typer.echo(f"{'labels':<14}{plain(labels)}")
    for stage in stages:
        progress = describe(stage, rate_of(stage), units_of(target_run, stage.name))
        typer.echo(f"{f'{stage.name} stage':<13} {stage.state}, {progress}")
    _show_conversations(talks, part)
    for line in part["left_out"]:
        typer.echo(f"{'left out':<14}{plain(line)}")
    _show_continuation(target_run, abandoned=part["abandoned"])
    for line in [*([unserved_queues.describe_missing(unserved)] if unserved else []), *waits]:
        typer.echo(plain(line))
    return exits.DONE


def _show_continuation(run: Run, *, abandoned: bool) -> None:
    """Print how to continue a run that is paused or abandoned."""
    if abandoned or run.state == "paused":
        if advice := pause_advice(run):
            typer.echo(advice)
        ended = "its command has ended; " if abandoned else ""
        typer.echo(f"{ended}continue with: jarvis runs resume {run.id}{resume_flags(run)}")


def label(settings: Settings, run: str, text: str) -> int:
    """Set the label of a run."""
    with wiring.store_of(settings, create=False) as store:
        target_run = runs.find_run(store, run)
        runs.set_label(store, target_run, text)
    name = " ".join(text.split())
    typer.echo(f"run {target_run.id} is named {plain(name)}" if name else f"run {target_run.id} has no label", err=True)
    return exits.DONE


def _show_conversations(talks: Sequence[tuple[int, str, str]], part: Mapping[str, Any]) -> None:
    """List the first conversations of a run, and their total cost."""
    for number, label, state in talks[:MOST_LISTED]:
        typer.echo(f"{'conversation':<14}{number} {state}: {plain(label)}")
    if len(talks) > MOST_LISTED:
        typer.echo(f"{'':<14}and {len(talks) - MOST_LISTED:,} more")
    if model := part["model"]:
        tokens = f"{counted(model['calls'], 'answer')}, {model['prompt'] + model['completion']:,} tokens"
        typer.echo(f"{'model':<14}{plain(model['group'])}: {tokens}, {cost_text(part['cost'])}")
    if budget := part.get("budget"):
        typer.echo(f"{'budget':<14}{budget['says']}")


def report(settings: Settings, run: str, delivery: Delivery) -> int:
    """Write the report of a run, or the answer of an agent."""
    with wiring.store_of(settings, create=False) as store:
        target_run = runs.find_run(store, run)
        blobs = blobs_of(settings)
        if target_run.kind in agent_output.KINDS:
            agent_output.check_format(delivery.form)
            agent_output.write_answer(store, target_run, conversations.read_answer(store, blobs, target_run), delivery)
            return agent_output.exit_code(target_run) if target_run.ended else exits.INCOMPLETE
        if is_code(target_run):
            return code_output.report_code(settings.data_dir, store, blobs, target_run, delivery)
        if writes := _report_writer(target_run):
            return writes(store, blobs, target_run, delivery)
        scan = scan_of(target_run)
        body = reports.read_body(store, blobs, scan)
        write_report(pieces(store, blobs, scan, body, delivery), delivery.output)
    code = exit_code(scan, body, None) if scan.ended else exits.INCOMPLETE
    if code:
        typer.echo(f"jarvis: exit {code}: {exit_reason(target_run, body, None, code)}", err=True)
    return code


def _report_writer(run: Run) -> Callable[[Store, Blobs, Run, Delivery], int] | None:
    """Return the function that writes the report of a run over a C project or crate, or None for other runs."""
    if is_fix(run):
        return fix_output.report_fixes
    if is_conversion(run):
        return conversion_output.write_conversion_report
    if is_interface(run):
        return interface_output.write_interface_report
    if is_replacement(run):
        return replacement_output.write_replacement_report
    if is_optimization(run):
        return optimize_output.write_optimization_report
    return symbol_output.write_symbol_report if is_symbol_scan(run) else None


def transcript(settings: Settings, job: str, *, as_json: bool, full: bool) -> int:
    """Print a conversation."""
    with wiring.store_of(settings, create=False) as store:
        records = conversations.read_transcript(store, blobs_of(settings), conversations.find_job(store, job))
    if as_json:
        typer.echo(json.dumps(records, indent=2))
        return exits.DONE
    if not records:
        typer.echo("no messages yet", err=True)
    for entry in conversations.transcript_entries(records, questions=full):
        facts = ", ".join(f"{name} {value}" for name, value in entry.facts.items() if value not in (None, 0.0))
        typer.echo(plain(f"── {entry.who}" + (f" ({facts})" if facts else "")))
        typer.echo("\n".join(map(plain, entry.text.expandtabs().split("\n"))) + "\n" if entry.text else "")
    return exits.DONE


def export(settings: Settings, run: str, directory: Path | None) -> int:
    """Write the files of a run."""
    with wiring.store_of(settings, create=False) as store:
        target_run = runs.find_run(store, run)
        if target_run.kind in agent_output.KINDS:
            raise UsageError(
                f"run {target_run.id} is a run of agents; print its answer with: jarvis runs report {target_run.id}"
            )
        if directory and has_partial_crate(target_run):
            return conversion_output.export_partial_crate(settings, store, blobs_of(settings), target_run, directory)
        if is_code(target_run):
            raise UsageError(
                f"run {target_run.id} changes code; print its change with: jarvis code diff {target_run.id}"
            )
        if (written := _exported(store, blobs_of(settings), target_run, directory)) is not None:
            for path in written:
                typer.echo(plain(str(path)))
            return exits.DONE
        place = directory or export_directory(target_run)
        if place is None:
            raise UsageError(
                f"run {target_run.id}: its root {plain(target_run.root)} is not a directory here; choose one with -d"
            )
        blobs = blobs_of(settings)
        paths = (
            export_fixes(store, blobs, target_run, place)
            if is_fix(target_run)
            else export_files(store, blobs, scan_of(target_run), place)
        )
        for path in paths:
            typer.echo(plain(str(path)))
    return exits.DONE


def _exported(store: Store, blobs: Blobs, run: Run, directory: Path | None) -> list[Path] | None:
    """Write the files of a run over a C project, and return their paths; None for other runs."""
    if is_conversion(run):
        return export_conversion(store, blobs, run, directory, say=write_line)
    if is_interface(run):
        return export_interface(store, blobs, run, directory)
    if is_replacement(run):
        return ReplacementResult(store, blobs, run).export(directory, write_line)
    if is_optimization(run):
        return OptimizeResult(store, blobs, run).export(directory)
    if is_symbol_scan(run):
        return export_symbols(store, blobs, run, directory, say=write_line)
    return None


def prune(settings: Settings, names: Sequence[str], older_than: float | None, *, cache: bool, answers: bool) -> int:
    """Delete ended runs, unreferenced blobs and, on request, caches."""
    age = ANSWER_DAYS if older_than is None else older_than
    with wiring.store_of(settings, create=False) as store:
        store.deadline.lift_execution_limit()
        runs.check_clocks(store, time.time())
        target_run = [runs.find_run(store, name) for name in names]
        for one in target_run:
            if not one.ended:
                raise UsageError(f"run {one.id} is {one.state}; cancel it first: jarvis runs cancel {one.id}")
        ids = [one.id for one in target_run] + (runs.ended_before(store, older_than) if older_than is not None else [])
        removed = runs.remove_runs(store, ids) + remove_abandoned(store, settings.lease_seconds)
        pruned = runs.prune_unused(store, blobs_of(settings), time.time())
        forgotten = runs.forget_answers(store, age) if answers else 0
    deleted = f"{counted(removed, 'run')}, {counted(pruned.blobs, 'blob')} ({pruned.bytes / 1e6:,.1f} MB)"
    if cache:
        deleted += f", {wiring.results_of(settings).clear().bytes / 1e6:,.1f} MB of cached results"
    if answers:
        deleted += f", {counted(forgotten, 'answer')}"
    typer.echo(f"deleted {deleted}", err=True)
    return exits.DONE
