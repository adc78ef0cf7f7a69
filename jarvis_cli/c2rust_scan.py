"""Execute `jarvis c2rust scan` locally or on a cluster."""

import os
from dataclasses import replace
from pathlib import Path

from jarvis_cli.c2rust_options import ProjectScan
from jarvis_cli.named_run import begin_or_go_on, resume_on_cluster
from jarvis_cli.progress import display
from jarvis_cli.run_local import run_locally
from jarvis_cli.scan import detach_run, wait_for_workers
from jarvis_cli.scan_graphs import deliver_graphs, graph_request, is_without_scan
from jarvis_cli.status_output import Display, write_line
from jarvis_cli.symbol_output import deliver_symbols
from jarvis_workers.errors import UsageError
from jarvis_workers.service import wiring
from jarvis_workers.service.c2rust.symbol_scan import (
    SCAN,
    CompileOptions,
    ParseInput,
    ParseOptions,
    plan_of,
    scan_request,
)
from jarvis_workers.service.handles import Blobs, Store
from jarvis_workers.service.health.needed_extras import require_extras
from jarvis_workers.service.labels import parse_labels
from jarvis_workers.service.named_runs import RunName, check_name, request_hash
from jarvis_workers.service.runs import find_run, resume
from jarvis_workers.service.sources import is_address, open_source
from jarvis_workers.service.submit import RunRequest, submit
from jarvis_workers.settings import Settings, load_settings
from jarvis_workers.store.values import Run


def scan_project(asked: ProjectScan) -> int:
    """Read a project, and write its files; return the exit code."""
    settings = load_settings({"where": asked.where, "processes": asked.processes}, directory=Path.cwd())
    if asked.detach and settings.place == "local":
        raise UsageError("--detach needs a cluster (JARVIS_BROKER_URL): a local run is executed by this command")
    graphs = graph_request(asked)
    if is_without_scan(asked):
        return deliver_graphs(asked, graphs)
    require_extras(settings)
    return (_on_cluster if settings.place == "cluster" else _here)(settings, asked)


def _here(settings: Settings, asked: ProjectScan) -> int:
    with wiring.store_of(settings, tell=write_line) as store:
        with (
            display(asked.quiet) as screen,
            wiring.executor_of(settings, store, tell=screen.tell, show=screen.show) as local,
        ):

            def begin() -> Run:
                return run_locally(local, _submitted(settings, store, asked, local.executor, screen), screen)

            def go_on(earlier: Run) -> Run:
                if earlier.ended:
                    return earlier
                resume(store, earlier, local.executor, settings.lease_seconds, budget=None)
                return run_locally(local, earlier.id, screen)

            run = begin_or_go_on(store, _run_name(settings, asked), screen, begin=begin, go_on=go_on)
        return _delivered(store, wiring.blobs_of(settings), run, screen, asked)


def _on_cluster(settings: Settings, asked: ProjectScan) -> int:
    from jarvis_workers.service import remote  # noqa: PLC0415

    with wiring.store_of(settings, tell=write_line) as store, remote.notifier_of(settings) as notifier:
        blobs = wiring.shared_blobs_of(settings)
        with display(asked.quiet) as screen:

            def begin() -> str:
                return _submitted(settings, store, asked, remote.EXECUTOR, screen)

            def go_on(earlier: Run) -> str:
                return resume_on_cluster(store, earlier, settings, None)

            run_id = begin_or_go_on(store, _run_name(settings, asked), screen, begin=begin, go_on=go_on)
            if asked.detach:
                return detach_run(settings, store, notifier, find_run(store, run_id), screen)
            run = wait_for_workers(settings, store, run_id, screen)
        return _delivered(store, blobs, run, screen, asked)


def _delivered(store: Store, blobs: Blobs, run: Run, screen: Display, asked: ProjectScan) -> int:
    """Write the files of a run, and the graphs if it has symbols; return the exit code."""
    code = deliver_symbols(store, blobs, run, screen, quiet=asked.quiet)
    request = graph_request(asked)
    if request and run.state in {"done", "incomplete"}:
        deliver_graphs(asked, request, screen.tell)
    return code


def _submitted(settings: Settings, store: Store, asked: ProjectScan, executor: str, screen: Display) -> str:
    """Determine the compile commands of the project, and submit the run; return its id."""
    choice = CompileOptions.from_settings(
        settings, compile_commands=asked.compile_commands, configure=asked.configure, build=asked.build
    )
    with open_source(asked.path, bounds=wiring.tree_bounds_of(settings)) as source:
        plan = plan_of(settings, source.path, choice, lambda command: screen.tell(f"running: {command}"))
        for warning in plan.warnings:
            screen.tell(warning)
        request: RunRequest[ParseInput] = replace(
            scan_request(
                settings,
                source,
                plan,
                executor,
                allow_errors=asked.allow_errors,
                labels=parse_labels(asked.label or ()),
            ),
            name=_run_name(settings, asked),
        )
        if executor.startswith("local:"):
            return submit(store, wiring.blobs_of(settings), request, screen.packing)
        from jarvis_workers.service import remote  # noqa: PLC0415

        return remote.submit_to_workers(store, wiring.shared_blobs_of(settings), request, screen.packing)


def _run_name(settings: Settings, asked: ProjectScan) -> RunName | None:
    """Return the name of the run with the hash of its request, None if it is not named."""
    if asked.name is None:
        return None
    root = asked.path if is_address(asked.path) else os.path.realpath(asked.path)
    database = str(asked.compile_commands) if asked.compile_commands else None
    facts = {"where": settings.place, "kind": SCAN, "source": root, "compile": [database, asked.configure, asked.build]}
    return RunName(check_name(asked.name), request_hash(ParseOptions(allow_errors=asked.allow_errors), **facts))
