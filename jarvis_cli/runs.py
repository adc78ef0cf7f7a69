"""`jarvis runs`: list, watch, stop, resume and report runs."""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from jarvis_cli import answer, exits
from jarvis_cli.carry import carry_out
from jarvis_cli.deliver import Delivery, counted, deliver, delivery, exit_code, is_well, summary, write_report
from jarvis_cli.diff import EXAMPLES as DIFF_EXAMPLES
from jarvis_cli.diff import diff
from jarvis_cli.following import following
from jarvis_cli.options import Budget, Form, Output, Quiet
from jarvis_cli.progress import describe, display, rate_of
from jarvis_cli.scan import wait_for_workers
from jarvis_workers.errors import UsageError
from jarvis_workers.paths import plain
from jarvis_workers.service import absence, conversations, desk, reports, runs
from jarvis_workers.service.budgets import more_for, read_asked
from jarvis_workers.service.export import export as export_files
from jarvis_workers.service.export import export_directory
from jarvis_workers.settings import Settings, load_settings
from jarvis_workers.store.engine import Store
from jarvis_workers.store.runs import Run

MOST_LISTED = 20
ANSWER_DAYS = 90.0
SHOWN = ("id", "kind", "state", "reason", "scanned_root", "created_at", "ended_at", "seconds", "executor", "version")

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="List, watch, stop, resume and report runs.")

RunId = Annotated[str, typer.Argument(metavar="RUN", help='A run\'s id, its beginning, or "last".')]
FailOn = Annotated[str | None, typer.Option(metavar="LEVEL", help="Exit 1 at a finding of this severity or above.")]
AsJson = Annotated[bool, typer.Option("--json", help="For programs.")]
Timeout = Annotated[
    float | None,
    typer.Option(min=0, metavar="SECONDS", help="Give up waiting after this many seconds (exit 4); the run goes on."),
]


@app.callback()
def group() -> None:
    """List, watch, stop, resume and report runs."""


@app.command("list")
def list_runs(
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=1, max=10_000, metavar="NUMBER", help="How many, the newest first.")
    ] = 20,
    as_json: AsJson = False,
) -> int:
    """List runs, the newest first."""
    settings = _settings()
    with desk.store_of(settings) as store:
        found = [_row(store, run, settings) for run in runs.newest_runs(store, limit)]
    if as_json:
        typer.echo(json.dumps(found, indent=2))
        return exits.DONE
    if not found:
        typer.echo("no runs yet; start one with: jarvis sec fast -p PATH", err=True)
        return exits.DONE
    typer.echo(f"{'RUN':<10}{'KIND':<10}{'STATE':<12}{'CREATED':<21}{'FILES':>8}  ROOT")
    for row in found:
        start = f"{row['id']:<10}{row['kind']:<10}{row['state']:<12}{row['created_at'][:19]:<21}"
        typer.echo(f"{start}{row['files']:>8,}  {plain(row['root'])}")
    return exits.DONE


@app.command()
def show(run: RunId, as_json: AsJson = False) -> int:
    """Show a run: its state, its stages, and what to do next."""
    settings = _settings()
    with desk.store_of(settings) as store:
        chosen = runs.find_run(store, run)
        part = reports.run_part(store, chosen) | {"abandoned": runs.is_abandoned(store, chosen, settings.lease_seconds)}
        stages = runs.stages_of(store, chosen)
        talks = conversations.jobs_of(store, chosen)
        unserved = [] if runs.is_local(chosen) else absence.unserved(store, chosen.id, settings.lease_seconds)
    if as_json:
        typer.echo(json.dumps(part, indent=2))
        return exits.DONE
    for name in SHOWN:
        if part[name] is not None:
            typer.echo(f"{name:<14}{plain(str(part[name]))}")
    for stage in stages:
        typer.echo(f"{f'{stage.name} stage':<13} {stage.state}, {describe(stage, rate_of(stage))}")
    _show_talks(talks, part)
    if part["abandoned"] or chosen.state == "paused":
        gone = "its command is gone; " if part["abandoned"] else ""
        typer.echo(f"{gone}go on with: jarvis runs resume {chosen.id}{more_for(chosen)}")
    if unserved:
        typer.echo(absence.says(unserved))
    return exits.DONE


def _show_talks(talks: Sequence[tuple[int, str, str]], part: Mapping[str, Any]) -> None:
    """Name the first conversations of a run, and say what they took."""
    for number, label, state in talks[:MOST_LISTED]:
        typer.echo(f"{'conversation':<14}{number} {state}: {plain(label)}")
    if len(talks) > MOST_LISTED:
        typer.echo(f"{'':<14}and {len(talks) - MOST_LISTED:,} more")
    if said := part["model"]:
        tokens = f"{said['calls']:,} answers, {said['prompt'] + said['completion']:,} tokens"
        typer.echo(f"{'model':<14}{plain(said['group'])}: {tokens}, {part['cost']:.4f} dollars")
    if budget := part.get("budget"):
        typer.echo(f"{'budget':<14}{budget['says']}")


@app.command()
def watch(run: RunId) -> int:
    """Follow a run until it ends."""
    return _wait(run, None, quiet=False)


@app.command()
def wait(run: RunId, timeout: Timeout = None, quiet: Quiet = False) -> int:
    """Wait until a run has ended; exit as it would have."""
    return _wait(run, timeout, quiet)


def _wait(run: str, timeout: float | None, quiet: bool) -> int:
    settings = _settings()
    with desk.store_of(settings) as store:
        chosen = runs.find_run(store, run)
        _check_broker(settings, chosen)
        with display(quiet) as screen, following(screen, store) as show_all:
            waiting = runs.Waiting(
                clock=time.monotonic,
                sleep=time.sleep,
                show=show_all,
                tell=screen.tell,
                tick_seconds=settings.tick_seconds,
                lease_seconds=settings.lease_seconds,
            )
            try:
                ended = runs.wait(store, chosen.id, timeout, waiting)
            except KeyboardInterrupt:
                screen.tell(f"run {chosen.id} goes on without this command; see: jarvis runs wait {chosen.id}")
                raise
        if ended is None:
            screen.tell(f"run {chosen.id} is still on after {timeout:g} s")
            return exits.TIMED_OUT
        if not ended.ended and ended.state != "paused":
            screen.tell(f"run {ended.id}: its command is gone; go on with: jarvis runs resume {ended.id}")
            return exits.INCOMPLETE
        if ended.kind == answer.KIND:
            found = conversations.read_answer(store, desk.blobs_of(settings), ended)
            screen.conclude(answer.summary(store, ended, found), well=ended.state == "done")
            return answer.exit_code(ended)
        body = reports.read_body(store, desk.blobs_of(settings), ended)
        screen.conclude(summary(ended, body, None), well=is_well(ended, body))
        return exit_code(ended, body, None)


def _check_broker(settings: Settings, run: Run) -> None:
    if not runs.is_local(run) and not run.ended:
        from jarvis_workers.service import fleet  # noqa: PLC0415  (celery is slow to import)

        fleet.check_broker(settings)


@app.command()
def cancel(run: RunId) -> int:
    """Cancel a run; what was found so far stays in its report."""
    settings = _settings()
    with desk.store_of(settings) as store:
        ended = runs.cancel(store, runs.find_run(store, run), settings.lease_seconds)
    typer.echo(f"run {ended.id} is {ended.state}", err=True)
    return exits.DONE


@app.command()
def resume(
    run: RunId,
    output: Output = None,
    form: Form = None,
    fail_on: FailOn = None,
    budget: Budget = None,
    quiet: Quiet = False,
) -> int:
    """Go on with a run that was interrupted, has spent its budget, or whose command has died; then report."""
    asked, more = delivery(output, form, fail_on, None), read_asked(budget)

    def take_up(settings: Settings, store: Store, chosen: Run, executor: str) -> None:
        runs.resume(store, chosen, executor, settings.lease_seconds, budget=more)

    return _go_on(run, asked, quiet, take_up)


@app.command()
def retry(
    run: RunId,
    output: Output = None,
    form: Form = None,
    fail_on: FailOn = None,
    budget: Budget = None,
    quiet: Quiet = False,
) -> int:
    """Do the failed jobs of an ended run again, and only those; then report."""
    asked, more = delivery(output, form, fail_on, None), read_asked(budget)

    def take_up(_: Settings, store: Store, chosen: Run, executor: str) -> None:
        runs.retry(store, chosen, executor, budget=more)

    return _go_on(run, asked, quiet, take_up)


def _go_on(run: str, asked: Delivery, quiet: bool, take_up: Callable[[Settings, Store, Run, str], None]) -> int:
    settings = _settings()
    with desk.store_of(settings) as store:
        chosen = runs.find_run(store, run)
        with display(quiet) as screen:
            if runs.is_local(chosen):
                with (
                    following(screen, store, grows=True) as show_all,
                    desk.executor_of(settings, store, tell=screen.tell, show=show_all) as local,
                ):
                    take_up(settings, store, chosen, local.executor)
                    ended = carry_out(local, chosen.id, screen)
            else:
                take_up(settings, store, chosen, chosen.executor)
                ended = wait_for_workers(settings, store, chosen.id, screen)
        conclude = answer.deliver_answer if ended.kind == answer.KIND else deliver
        return conclude(store, desk.blobs_of(settings), ended, asked, screen)


@app.command()
def report(run: RunId, output: Output = None, form: Form = None) -> int:
    """Write the report of any run, or an agent's answer; of a run that is not done, what there is by now."""
    settings, asked = _settings(), delivery(output, form, None, None)
    with desk.store_of(settings) as store:
        chosen = runs.find_run(store, run)
        blobs = desk.blobs_of(settings)
        if chosen.kind == answer.KIND:
            answer.check_format(asked.form)
            answer.write_answer(store, chosen, conversations.read_answer(store, blobs, chosen), asked)
            return answer.exit_code(chosen) if chosen.ended else exits.INCOMPLETE
        body = reports.read_body(store, blobs, chosen)
        write_report(reports.compose(store, blobs, chosen, body, asked.form), asked.output)
    return exit_code(chosen, body, None) if chosen.ended else exits.INCOMPLETE


app.command(epilog=DIFF_EXAMPLES)(diff)


@app.command()
def transcript(
    job: Annotated[str, typer.Argument(metavar="JOB", help="A conversation's id, or a run that has only one.")],
    as_json: AsJson = False,
) -> int:
    """Show what was said in a conversation, of one that is on what there is by now."""
    settings = _settings()
    with desk.store_of(settings) as store:
        found = conversations.read_transcript(store, desk.blobs_of(settings), conversations.find_job(store, job))
    if as_json:
        typer.echo(json.dumps(found, indent=2))
        return exits.DONE
    if not found:
        typer.echo("nothing was said yet", err=True)
    for said in conversations.tell(found):
        facts = ", ".join(f"{name} {value}" for name, value in said.facts.items() if value not in (None, 0.0))
        typer.echo(plain(f"── {said.who}" + (f" ({facts})" if facts else "")))
        typer.echo("\n".join(map(plain, said.text.expandtabs().split("\n"))) + "\n" if said.text else "")
    return exits.DONE


@app.command()
def export(
    run: RunId,
    directory: Annotated[
        Path | None, typer.Option("--directory", "-d", metavar="DIR", help="By default ROOT/.jarvis/sec.")
    ] = None,
) -> int:
    """Write a run's files: heuristic_issues.jsonl, progress.jsonl; with agents cluster_report and agent_issues, too."""
    settings = _settings()
    with desk.store_of(settings) as store:
        chosen = runs.find_run(store, run)
        if chosen.kind == answer.KIND:
            raise UsageError(f"run {chosen.id} is an agent's; its answer: jarvis runs report {chosen.id}")
        place = directory or export_directory(chosen)
        if place is None:
            raise UsageError(
                f"run {chosen.id}: its root {plain(chosen.root)} is not a directory here; say where with -d"
            )
        for path in export_files(store, desk.blobs_of(settings), chosen, place):
            typer.echo(plain(str(path)))
    return exits.DONE


@app.command()
def prune(
    run: Annotated[list[str] | None, typer.Argument(metavar="RUN", help="Runs to delete; or --older-than.")] = None,
    older_than: Annotated[
        float | None, typer.Option(min=0, metavar="DAYS", help="Delete runs that ended more than this many days ago.")
    ] = None,
    cache: Annotated[
        bool, typer.Option("--cache", help="Forget what earlier scans found out, on this machine.")
    ] = False,
    answers: Annotated[
        bool, typer.Option("--answers", help="Forget models' answers of more than 90 days ago, or of --older-than.")
    ] = False,
) -> int:
    """Delete ended runs, and the packed sources that no run has wanted for a day."""
    settings = _settings()
    age = ANSWER_DAYS if older_than is None else older_than
    with desk.store_of(settings) as store:
        chosen = [runs.find_run(store, name) for name in run or []]
        for one in chosen:
            if not one.ended:
                raise UsageError(f"run {one.id} is {one.state}; cancel it first: jarvis runs cancel {one.id}")
        ids = [one.id for one in chosen] + (runs.ended_before(store, older_than) if older_than is not None else [])
        removed = runs.remove_runs(store, ids)
        pruned = runs.prune_unwanted(store, desk.blobs_of(settings), time.time())
        forgotten = runs.forget_answers(store, age) if answers else 0
    gone = f"{counted(removed, 'run')}, {counted(pruned.blobs, 'blob')} ({pruned.bytes / 1e6:,.1f} MB)"
    if cache:
        gone += f", {desk.results_of(settings).clear().bytes / 1e6:,.1f} MB of known results"
    if answers:
        gone += f", {counted(forgotten, 'answer')}"
    typer.echo(f"deleted {gone}", err=True)
    return exits.DONE


def _settings() -> Settings:
    return load_settings(directory=Path.cwd())


def _row(store: Store, run: Run, settings: Settings) -> dict[str, Any]:
    part = reports.run_part(store, run)
    state = "abandoned" if runs.is_abandoned(store, run, settings.lease_seconds) else run.state
    files = next((stage["files"] for stage in part["stages"].values()), 0)
    return {
        "id": run.id,
        "kind": run.kind,
        "state": state,
        "created_at": part["created_at"],
        "files": files,
        "root": run.root,
    }
