"""Execute `jarvis c2rust scan`."""

from dataclasses import replace
from functools import partial

from jarvis_cli.kit.language import language_of
from jarvis_cli.kit.project_run import RunCommand, execute_run, project_settings
from jarvis_cli.kit.status_output import Display
from jarvis_workers.builds.compile_sources import CompileOptions
from jarvis_workers.c2rust.commands.compile_plan import with_compile_plan
from jarvis_workers.c2rust.commands.options import ProjectScan
from jarvis_workers.c2rust.commands.scan_graphs import deliver_graphs, graph_request, is_without_scan
from jarvis_workers.c2rust.commands.symbol_output import deliver_symbols
from jarvis_workers.c2rust.runs.symbol_scan import scan_request
from jarvis_workers.c2rust.stages.pipelines import SCAN
from jarvis_workers.runs.labels import parse_labels
from jarvis_workers.runs.named_runs import name_over_source
from jarvis_workers.runs.run_kinds import StoredRun


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
