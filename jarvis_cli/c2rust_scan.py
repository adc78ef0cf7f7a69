"""Execute `jarvis c2rust scan`."""

import os
from dataclasses import replace
from functools import partial

from jarvis_cli.c2rust_options import ProjectScan
from jarvis_cli.language import language_of
from jarvis_cli.project_run import ProjectCommand, execute_project, project_settings
from jarvis_cli.scan_graphs import deliver_graphs, graph_request, is_without_scan
from jarvis_cli.status_output import Display
from jarvis_cli.symbol_output import deliver_symbols
from jarvis_workers.service.c2rust.symbol_scan import SCAN, CompilePlan, ParseInput, ParseOptions, scan_request
from jarvis_workers.service.labels import parse_labels
from jarvis_workers.service.named_runs import RunName, check_name, request_hash
from jarvis_workers.service.run_kinds import StoredRun
from jarvis_workers.service.sources import SourceTree, is_address
from jarvis_workers.service.submit import RunRequest
from jarvis_workers.settings import Settings


def scan_project(scan: ProjectScan) -> int:
    """Read a project, and write its files; return the exit code."""
    settings = project_settings({"where": scan.where, "processes": scan.processes}, detach=scan.detach)
    graphs = graph_request(scan)
    if is_without_scan(scan):
        return deliver_graphs(scan, graphs)
    command = ProjectCommand(
        scan.path,
        scan.compile_commands,
        scan.configure,
        scan.build,
        request=partial(_request, scan),
        deliver=partial(_deliver, scan),
        name=partial(_run_name, scan),
        detach=scan.detach,
        quiet=scan.quiet,
    )
    return execute_project(settings, command)


def _request(
    scan: ProjectScan, settings: Settings, source: SourceTree, plan: CompilePlan, executor: str
) -> RunRequest[ParseInput]:
    labels = parse_labels(scan.label or ())
    lang = language_of(scan.lang)
    request = scan_request(settings, source, plan, executor, allow_errors=scan.allow_errors, labels=labels, lang=lang)
    return replace(request, name=_run_name(scan, settings))


def _deliver(scan: ProjectScan, stored: StoredRun, screen: Display) -> int:
    """Write the files of a run, and the graphs if it has symbols; return the exit code."""
    code = deliver_symbols(stored, screen, quiet=scan.quiet)
    request = graph_request(scan)
    if request and stored.run.state in {"done", "incomplete"}:
        deliver_graphs(scan, request, screen.tell)
    return code


def _run_name(scan: ProjectScan, settings: Settings) -> RunName | None:
    """Return the name of the run with the hash of the request, or None if the run has no name."""
    if scan.name is None:
        return None
    root = scan.path if is_address(scan.path) else os.path.realpath(scan.path)
    database = str(scan.compile_commands) if scan.compile_commands else None
    facts = {"where": settings.place, "kind": SCAN, "source": root, "compile": [database, scan.configure, scan.build]}
    return RunName(check_name(scan.name), request_hash(ParseOptions(allow_errors=scan.allow_errors), **facts))
