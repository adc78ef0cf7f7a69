"""Execute `--dry-run` of commands over C projects: print an estimate of tokens and cost; no model is called."""

import json
from collections.abc import Iterator
from dataclasses import asdict

import typer

from jarvis_cli.kit import exits
from jarvis_cli.kit.estimate import basis_lines, share_facts, stage_rows
from jarvis_cli.kit.progress import display
from jarvis_cli.kit.project_run import RunCommand
from jarvis_cli.kit.run_outcome import counted
from jarvis_cli.kit.status_output import run_locally, write_line
from jarvis_workers.c2rust.commands.fast_options import SkeletonConversion
from jarvis_workers.c2rust.commands.replace_options import LibraryReplace
from jarvis_workers.c2rust.runs.run_estimate import RunEstimate, dry_request, estimate_run, open_dry_executor
from jarvis_workers.errors import UsageError
from jarvis_workers.paths import plain
from jarvis_workers.runs import wiring
from jarvis_workers.runs.health.needed_extras import require_extras
from jarvis_workers.runs.scan_request import blobs_of
from jarvis_workers.runs.sources import open_source
from jarvis_workers.runs.submit import submit
from jarvis_workers.settings import Settings

NEED_A_RUN = ("detach", "name", "branch", "fetch_crates")


def flags_of(command: SkeletonConversion | LibraryReplace) -> dict[str, object]:
    """Return the settings that a command gives: a dry run is on this machine.

    Raises UsageError for options that contradict a dry run, since they need a run.
    """
    if command.as_json and not command.dry_run:
        raise UsageError("--json is for --dry-run; for the results of a run: jarvis runs report last --format json")
    given = [name for name in NEED_A_RUN if getattr(command, name, None)]
    if command.dry_run and given:
        option = given[0].replace("_", "-")
        raise UsageError(f"--{option} cannot be combined with --dry-run, which records no run and writes no crate")
    return {**command.flags, **({"where": "local"} if command.dry_run else {})}


def print_estimate(settings: Settings, command: RunCommand, *, as_json: bool) -> int:
    """Execute the dry run of a command on this machine, and print its estimate; return the exit code."""
    require_extras(settings)
    with (
        wiring.store_of(settings, tell=write_line) as store,
        display(command.quiet) as screen,
        open_dry_executor(settings, store, tell=screen.tell, show=screen.show) as dry,
    ):
        with open_source(command.path, bounds=wiring.tree_bounds_of(settings)) as source:
            request = command.request(source, dry.local.executor, screen)
            run_id = submit(dry.store, blobs_of(settings), dry_request(request), screen.packing)
        run = run_locally(dry.local, run_id, screen, resumable=False)
        found = estimate_run(settings, store, dry, run, request)
    typer.echo(estimate_json(found) if as_json else "\n".join(estimate_lines(found)))
    return exits.INCOMPLETE if found.gaps else exits.DONE


def estimate_lines(found: RunEstimate) -> Iterator[str]:
    """Yield lines: the cost of each stage, the totals, the limit, and the basis of the estimate."""
    group = plain(found.group)
    yield from stage_rows(found.stages, priced=found.priced)
    yield f"never more than {counted(found.most_calls, 'question')}; model group: {group}"
    if found.gaps:
        yield f"NOT CHECKED: {counted(found.gaps, 'unit')}, whose functions are not in the estimate"
    if "replace" in found.stages:
        yield "it is assumed that no function is replaced by a library"
    if found.improves:
        yield "the edits of --improve are not included"
    if found.drivers:
        functions = counted(found.drivers, "function")
        yield f"no test reaches {functions}: half of them are assumed to be translated, by drivers"
    yield from basis_lines(found.stages, found.ratio, priced=found.priced, group=group)
    if found.budget:
        verdict = {True: "the estimate fits", False: "the estimate exceeds it", None: "unknown"}[found.budget.fits]
        yield f"budget: {verdict}: {found.budget.says}"


def estimate_json(found: RunEstimate) -> str:
    """Return all numbers as JSON."""
    return json.dumps({**asdict(found), "stages": share_facts(found.stages)}, indent=2)
