"""Execute `jarvis c2rust scan`: read a project, and write the graphs of this scan or of an earlier one."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from jarvis_cli.kit import exits
from jarvis_cli.kit.language import language_of
from jarvis_cli.kit.project_run import RunCommand, execute_run, project_settings
from jarvis_cli.kit.status_output import Display, write_line
from jarvis_workers.builds.compile_sources import CompileOptions
from jarvis_workers.c2rust.commands.compile_plan import with_compile_plan
from jarvis_workers.c2rust.commands.options import ProjectScan
from jarvis_workers.c2rust.commands.scan import deliver_symbols
from jarvis_workers.c2rust.runs.scan_graphs import GraphRequest, default_dot, default_subgraphs, write_graphs
from jarvis_workers.c2rust.runs.symbol_scan import scan_request
from jarvis_workers.c2rust.stages.pipelines import SCAN
from jarvis_workers.errors import UsageError
from jarvis_workers.runs.labels import parse_labels
from jarvis_workers.runs.named_runs import name_over_source
from jarvis_workers.runs.run_kinds import StoredRun
from jarvis_workers.runs.sources import is_address

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
