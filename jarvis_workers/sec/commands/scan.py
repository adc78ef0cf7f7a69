"""Execute a scan, and its verification by agents, locally or on a cluster.

The baseline of a scan is an existing report, or another revision, which is scanned first. A run is begun, or the run of
the same name is continued.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import typer

from jarvis_cli.kit.progress import display
from jarvis_cli.kit.status_output import Display, run_locally, write_line
from jarvis_cli.kit.submission import begin_or_go_on, detach_run, resume_on_cluster, wait_for_workers
from jarvis_workers.executors.local.executor import LocalExecutor
from jarvis_workers.runs import wiring
from jarvis_workers.runs.health.needed_extras import require_extras
from jarvis_workers.runs.run_kinds import StoredRun
from jarvis_workers.runs.runs import discard_run, find_run, resume
from jarvis_workers.runs.scan_request import blobs_of
from jarvis_workers.runs.scratchdata import with_data_directory
from jarvis_workers.runs.submit import submit
from jarvis_workers.sec.commands.output import deliver, follow
from jarvis_workers.sec.commands.scan_parts import Part, part_of
from jarvis_workers.sec.commands.scan_request import ScanRequest
from jarvis_workers.settings import Settings
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Run


def scan_tree(request: ScanRequest) -> int:
    """Scan locally or on the cluster, as the settings say, and report unless the run is detached from this command."""
    settings = request.settings
    require_extras(settings)
    if (remark := request.scan_input.options.remark) and not request.delivery.quiet:
        typer.echo(f"jarvis: {remark}", err=True)
    if settings.place == "cluster":
        return _scan_on_cluster(request)
    if request.agents:
        return _scan_here(request)
    with with_data_directory(settings, write_line) as writable:
        delivery = replace(request.delivery, is_stored=writable is settings)
        return _scan_here(replace(request, settings=writable, delivery=delivery))


def _scan_here(request: ScanRequest) -> int:
    """Scan with child processes of this command, and report; a run that is not stored cannot be resumed."""
    settings = request.settings
    with wiring.store_of(settings, tell=write_line) as store:
        with display(request.delivery.quiet) as screen:
            run = scan_here(store, request, screen, resumable=request.delivery.is_stored)
        return deliver(StoredRun(settings, store, blobs_of(settings), run), request.delivery, screen)


def scan_here(store: Store, request: ScanRequest, screen: Display, *, resumable: bool = True) -> Run:
    """Scan with child processes of this command, and return the run.

    A run that is not `resumable` is deleted if it is interrupted.
    """
    settings, submitted = request.settings, list[str]()

    def scan(part: Part, request: ScanRequest = request.without_agents) -> Run:
        with _executor(settings, store, screen) as local:
            with part.opened as source:
                run_request = part.of(request.of(source, local.executor))
                submitted.append(submit(store, local.world.blobs, run_request, screen.packing))
            return run_locally(local, submitted[-1], screen, resumable=resumable)

    def begin() -> Run:
        return scan(part_of(store, request, scan), request)

    def go_on(earlier: Run) -> Run:
        if earlier.ended:
            return earlier
        with _executor(settings, store, screen) as local:
            resume(store, earlier, local.executor, settings.lease_seconds, budget=request.budget)
            return run_locally(local, earlier.id, screen)

    try:
        return begin_or_go_on(store, request.run_name, screen, begin=begin, go_on=go_on)
    except KeyboardInterrupt:
        if submitted and not resumable:
            discard_run(store, submitted[-1], settings.lease_seconds)
        raise


@contextmanager
def _executor(settings: Settings, store: Store, screen: Display) -> Iterator[LocalExecutor]:
    with (
        follow(screen, store, grows=True) as show,
        wiring.executor_of(settings, store, tell=screen.tell, show=show) as local,
    ):
        yield local


def _scan_on_cluster(request: ScanRequest) -> int:
    """Submit to the workers, wait and report; a detached command prints the run's id and returns at once.

    The command always waits for the scan of a baseline revision.
    """
    from jarvis_workers.executors.dispatch.sender import EXECUTOR  # noqa: PLC0415
    from jarvis_workers.runs import remote  # noqa: PLC0415

    settings = request.settings
    with wiring.store_of(settings, tell=write_line) as store, remote.notifier_of(settings) as notifier:
        blobs = wiring.shared_blobs_of(settings)
        with display(request.delivery.quiet) as screen:

            def begin(part: Part, request: ScanRequest) -> str:
                with part.opened as source:
                    run_request = part.of(request.of(source, EXECUTOR))
                    return remote.submit_to_workers(store, blobs, run_request, screen.packing)

            def wait(run_id: str) -> Run:
                with follow(screen, store, grows=True) as show:
                    return wait_for_workers(settings, store, run_id, screen, show)

            def scan(part: Part) -> Run:
                return wait(begin(part, request.without_agents))

            def begin_anew() -> str:
                return begin(part_of(store, request, scan), request)

            def go_on(earlier: Run) -> str:
                return resume_on_cluster(store, earlier, settings, request.budget)

            run_id = begin_or_go_on(store, request.run_name, screen, begin=begin_anew, go_on=go_on)
            if request.detach:
                return detach_run(settings, store, notifier, find_run(store, run_id), screen)
            run = wait(run_id)
        return deliver(StoredRun(settings, store, blobs, run), request.delivery, screen)
