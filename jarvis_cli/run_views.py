"""Display runs and their results: implementation of commands of `jarvis runs`."""

import json
import time
from collections.abc import Sequence
from pathlib import Path

import typer

from jarvis_cli.kit import exits, run_results
from jarvis_cli.kit.progress import describe, rate_of
from jarvis_cli.kit.report_target import Delivery
from jarvis_cli.kit.run_outcome import counted
from jarvis_cli.run_list import revision
from jarvis_workers.errors import UsageError
from jarvis_workers.paths import plain
from jarvis_workers.runs import conversations, runs, scan_request, wiring
from jarvis_workers.runs.run_kinds import StoredRun, units_of
from jarvis_workers.runs.run_status import RunStatus, status_of
from jarvis_workers.runs.scan_request import blobs_of
from jarvis_workers.sec.run_reports.finding_conversation import find_conversation
from jarvis_workers.settings import Settings
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
        status = status_of(StoredRun(settings, store, scan_request.blobs_of(settings), runs.find_run(store, run)))
    part = status.part
    if as_json:
        typer.echo(json.dumps(part | {"delays": status.delays}, indent=2))
        return exits.DONE
    for name in SHOWN:
        if part.get(name) is not None:
            typer.echo(f"{name:<14}{plain(str(part[name]))}")
    if checkout := part.get("checkout"):
        typer.echo(f"{'checkout':<14}{plain(revision(checkout['branch'], checkout['commit'], commit_mark(checkout)))}")
    if part["labels"]:
        labels = ", ".join(f"{key}={value}" for key, value in part["labels"].items())
        typer.echo(f"{'labels':<14}{plain(labels)}")
    for stage in status.stages:
        progress = describe(stage, rate_of(stage), units_of(status.run, stage.name))
        typer.echo(f"{f'{stage.name} stage':<13} {stage.state}, {progress}")
    _show_conversations(status)
    for line in part["left_out"]:
        typer.echo(f"{'left out':<14}{plain(line)}")
    for line in status.continuation():
        typer.echo(line)
    for line in filter(None, [status.missing, *status.delays]):
        typer.echo(plain(line))
    return exits.DONE


def label(settings: Settings, run: str, text: str) -> int:
    """Set the label of a run."""
    with wiring.store_of(settings, create=False) as store:
        target_run = runs.find_run(store, run)
        runs.set_label(store, target_run, text)
    name = " ".join(text.split())
    typer.echo(f"run {target_run.id} is named {plain(name)}" if name else f"run {target_run.id} has no label", err=True)
    return exits.DONE


def _show_conversations(status: RunStatus) -> None:
    """List the first conversations of a run, and their total cost."""
    talks, part = status.talks, status.part
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
        stored = StoredRun(settings, store, scan_request.blobs_of(settings), runs.find_run(store, run))
        return run_results.report(stored, delivery)


def transcript(settings: Settings, job: str, *, as_json: bool, full: bool) -> int:
    """Print a conversation."""
    with wiring.store_of(settings, create=False) as store:
        records = conversations.read_transcript(store, blobs_of(settings), find_conversation(store, job))
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
        stored = StoredRun(settings, store, scan_request.blobs_of(settings), runs.find_run(store, run))
        return run_results.export(stored, directory)


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
        removed = runs.remove_runs(store, ids) + runs.remove_abandoned(store, settings.lease_seconds)
        pruned = runs.prune_unused(store, scan_request.blobs_of(settings), time.time())
        forgotten = runs.forget_answers(store, age) if answers else 0
    deleted = f"{counted(removed, 'run')}, {counted(pruned.blobs, 'blob')} ({pruned.bytes / 1e6:,.1f} MB)"
    if cache:
        deleted += f", {wiring.results_of(settings).clear().bytes / 1e6:,.1f} MB of cached results"
    if answers:
        deleted += f", {counted(forgotten, 'answer')}"
    typer.echo(f"deleted {deleted}", err=True)
    return exits.DONE
