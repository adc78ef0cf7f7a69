"""Execute `jarvis c2rust scan`."""

import os
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import typer

from jarvis_cli.kit import exits
from jarvis_cli.kit.language import language_of
from jarvis_cli.kit.project_run import RunCommand, execute_run, project_settings
from jarvis_cli.kit.report_target import Delivery
from jarvis_cli.kit.run_results import print_paths, write_rendered
from jarvis_cli.kit.status_output import Display, write_line
from jarvis_workers.builds.compile_sources import CompileOptions
from jarvis_workers.c2rust.commands.compile_plan import with_compile_plan
from jarvis_workers.c2rust.commands.options import ProjectScan
from jarvis_workers.c2rust.report.body import ScanBody
from jarvis_workers.c2rust.report.text import incomplete_line, not_checked_line, summary_line
from jarvis_workers.c2rust.runs import scan_results
from jarvis_workers.c2rust.runs.scan_graphs import GraphRequest, default_dot, default_subgraphs, write_graphs
from jarvis_workers.c2rust.runs.symbol_scan import scan_request
from jarvis_workers.c2rust.stages.pipelines import SCAN
from jarvis_workers.errors import UsageError
from jarvis_workers.paths import plain
from jarvis_workers.runs.labels import parse_labels
from jarvis_workers.runs.named_runs import name_over_source
from jarvis_workers.runs.run_kinds import StoredRun
from jarvis_workers.runs.sources import is_address
from jarvis_workers.store.values import Run
from jarvis_workers.words import Words

# Output of runs that read C projects: the report, the files of the project, and the exit code.

NAMES_MAX = 20


def deliver_symbols(stored: StoredRun, screen: Display, *, quiet: bool = False) -> int:
    """Write the files of a project, and print a summary of the scan; return the exit code."""
    _, store, blobs, run = stored
    body = scan_results.read_body(store, blobs, run)
    files = scan_results.export_symbols(store, blobs, run, say=screen.tell)
    if not quiet and run.ended:
        for line in _summary(body, scan_results.words_of_run(run)):
            typer.echo(plain(line))
        if files:
            typer.echo(plain(f"files: {files[0].parent}{os.sep}"))
    return _conclude(run, body, screen)


def deliver(stored: StoredRun, delivery: Delivery, screen: Display) -> int:
    """Write the report and the files of a run that has ended or is paused; return the exit code."""
    _, store, blobs, run = stored
    write_rendered(stored, delivery)
    scan_results.export_symbols(store, blobs, run, say=screen.tell)
    return conclude(stored, screen)


def export(stored: StoredRun, directory: Path | None) -> int:
    """Write the files of a run; return the exit code. Raises UsageError."""
    _, store, blobs, run = stored
    return print_paths(scan_results.export_symbols(store, blobs, run, directory, say=write_line))


def conclude(stored: StoredRun, screen: Display) -> int:
    """Print the outcome of a run that has ended or is paused; return the exit code."""
    return _conclude(stored.run, scan_results.read_body(stored.store, stored.blobs, stored.run), screen)


def _conclude(run: Run, body: ScanBody, screen: Display) -> int:
    code = exits.of_state(run.state)
    screen.conclude(_outcome(run, body), well=code == exits.DONE)
    return code


def _outcome(run: Run, body: ScanBody) -> str:
    """Return the outcome of a run in one line."""
    text = f"run {run.id} is {run.state}"
    if body.not_checked:
        first = body.not_checked[0]
        text += f"; NOT CHECKED: {len(body.not_checked):,} of {body.units:,} units, first {first.file}: {first.reason}"
    elif body.files_not_read:
        text += "; not read: " + "; ".join(f"{one.file}: {one.reason}" for one in body.files_not_read[:NAMES_MAX])
    elif run.state != "done" and run.reason:
        text += f" ({run.reason})"
    if run.state == "incomplete":
        text += "; correct the compile commands, or accept incomplete units with --allow-errors"
    return text + (f"; continue with: jarvis runs resume {run.id}" if run.state == "paused" else "")


def _summary(body: ScanBody, say: Words) -> list[str]:
    lines = [summary_line(body, say)]
    if body.not_checked:
        lines.append(not_checked_line(body, say))
        lines += [f"  {unit.file}: {unit.reason}" for unit in body.not_checked[:NAMES_MAX]]
        if len(body.not_checked) > NAMES_MAX:
            number = f"{len(body.not_checked) - NAMES_MAX:,}"
            lines.append("  " + say("and {number} more", number=number))
    if body.incomplete:
        lines.append(incomplete_line(body, say))
    return lines


# `jarvis c2rust scan --dot, --subgraphs-dir`: write the graphs of the symbols of this scan, or of an earlier one.

REMARKS_MAX = 20


def graph_request(scan: ProjectScan) -> GraphRequest:
    """Return the requested graphs. Raises UsageError without a project on this machine, or without a result."""
    root = Path(scan.path)
    dot = default_dot(root) if scan.only_dot and scan.dot is None else scan.dot
    subgraphs = scan.subgraphs_dir
    if scan.only_subgraphs and subgraphs is None:
        subgraphs = default_subgraphs(root)
    request = GraphRequest(dot, subgraphs, scan.png)
    if request and is_address(scan.path):
        raise UsageError("--dot and --subgraphs-dir need a project on this machine; see jarvis runs export")
    if request and scan.detach:
        raise UsageError("--dot and --subgraphs-dir need the result: leave out --detach, or see jarvis runs export")
    return request


def is_without_scan(request: ProjectScan) -> bool:
    return request.only_dot or request.only_subgraphs


def deliver_graphs(scan: ProjectScan, request: GraphRequest, say: Callable[[str], None] = write_line) -> int:
    """Write the graphs, and print the names of those without a picture; return the exit code."""
    written = write_graphs(Path(scan.path), request)
    for remark in written.remarks[:REMARKS_MAX]:
        say(remark)
    if len(written.remarks) > REMARKS_MAX:
        say(f"and {len(written.remarks) - REMARKS_MAX:,} more")
    if not scan.quiet:
        say(f"{len(written.paths):,} graph files; the first is {written.paths[0]}")
    return exits.DONE


def scan_project(scan: ProjectScan) -> int:
    """Read a project, and write its files; return the exit code."""
    settings = project_settings(scan.flags, detach=scan.detach)
    graphs = graph_request(scan)
    if is_without_scan(scan):
        return deliver_graphs(scan, graphs)
    options = replace(scan.options, lang=language_of(scan.lang))
    compiling = CompileOptions.from_settings(settings, scan.compile_commands, scan.commands)
    database = str(scan.compile_commands) if scan.compile_commands else None
    compiled = [database, scan.commands.configure, scan.commands.build]
    command = RunCommand(
        path=scan.path,
        request=with_compile_plan(settings, compiling, partial(scan_request, options)),
        deliver=partial(_deliver, scan),
        name=name_over_source(scan.name, settings, scan.path, scan.options, kind=SCAN, compile=compiled),
        labels=parse_labels(scan.label or ()),
        detach=scan.detach,
        quiet=scan.quiet,
    )
    return execute_run(settings, command)


def _deliver(scan: ProjectScan, stored: StoredRun, screen: Display) -> int:
    """Write the files of a run, and the graphs if it has symbols; return the exit code."""
    code = deliver_symbols(stored, screen, quiet=scan.quiet)
    request = graph_request(scan)
    if request and stored.run.state in {"done", "incomplete"}:
        deliver_graphs(scan, request, screen.tell)
    return code
