"""Execute `jarvis c2rust scan`."""

import os
from dataclasses import replace
from functools import partial

from jarvis_cli.c2rust_options import ProjectScan
from jarvis_cli.project_run import ProjectCommand, execute_project, project_settings
from jarvis_cli.scan_graphs import deliver_graphs, graph_request, is_without_scan
from jarvis_cli.status_output import Display
from jarvis_cli.symbol_output import deliver_symbols
from jarvis_workers.service.c2rust.symbol_scan import SCAN, CompilePlan, ParseInput, ParseOptions, scan_request
from jarvis_workers.service.handles import Blobs, Store
from jarvis_workers.service.labels import parse_labels
from jarvis_workers.service.named_runs import RunName, check_name, request_hash
from jarvis_workers.service.sources import SourceTree, is_address
from jarvis_workers.service.submit import RunRequest
from jarvis_workers.settings import Settings
from jarvis_workers.store.values import Run


def scan_project(asked: ProjectScan) -> int:
    """Read a project, and write its files; return the exit code."""
    settings = project_settings(asked.where, asked.processes, detach=asked.detach)
    graphs = graph_request(asked)
    if is_without_scan(asked):
        return deliver_graphs(asked, graphs)
    command = ProjectCommand(
        asked.path,
        asked.compile_commands,
        asked.configure,
        asked.build,
        request=partial(_request, asked),
        deliver=partial(_deliver, asked),
        name=partial(_run_name, asked),
        detach=asked.detach,
        quiet=asked.quiet,
    )
    return execute_project(settings, command)


def _request(
    asked: ProjectScan, settings: Settings, source: SourceTree, plan: CompilePlan, executor: str
) -> RunRequest[ParseInput]:
    labels = parse_labels(asked.label or ())
    request = scan_request(settings, source, plan, executor, allow_errors=asked.allow_errors, labels=labels)
    return replace(request, name=_run_name(asked, settings))


def _deliver(asked: ProjectScan, store: Store, blobs: Blobs, run: Run, screen: Display) -> int:
    """Write the files of a run, and the graphs if it has symbols; return the exit code."""
    code = deliver_symbols(store, blobs, run, screen, quiet=asked.quiet)
    request = graph_request(asked)
    if request and run.state in {"done", "incomplete"}:
        deliver_graphs(asked, request, screen.tell)
    return code


def _run_name(asked: ProjectScan, settings: Settings) -> RunName | None:
    """Return the name of the run with the hash of what is asked for, None if it is not named."""
    if asked.name is None:
        return None
    root = asked.path if is_address(asked.path) else os.path.realpath(asked.path)
    database = str(asked.compile_commands) if asked.compile_commands else None
    facts = {"where": settings.place, "kind": SCAN, "source": root, "compile": [database, asked.configure, asked.build]}
    return RunName(check_name(asked.name), request_hash(ParseOptions(allow_errors=asked.allow_errors), **facts))
