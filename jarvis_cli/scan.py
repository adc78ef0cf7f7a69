"""Carry out `jarvis sec fast`: here, or on a cluster."""

from secrets import token_hex

import typer

from jarvis_cli import exits
from jarvis_cli.carry import carry_out
from jarvis_cli.deliver import Delivery, deliver
from jarvis_cli.progress import Display, display
from jarvis_workers.service import desk
from jarvis_workers.service.sources import Source, open_source
from jarvis_workers.service.submit import Request, submit
from jarvis_workers.settings import Settings
from jarvis_workers.store.engine import Store
from jarvis_workers.store.runs import Run

Globs = tuple[tuple[str, ...], tuple[str, ...]]


def scan_here(settings: Settings, named: str, asked: Delivery, globs: Globs, quiet: bool) -> int:
    """Scan with the children of this command, and report."""
    with desk.store_of(settings) as store:
        with display(quiet) as screen, desk.executor_of(settings, store, tell=screen.tell, show=screen.show) as local:
            with open_source(named) as source:
                request = _request(settings, source, globs, local.executor)
                run_id = submit(store, local.world.blobs, request, screen.packing)
            run = carry_out(local, run_id, screen)
        return deliver(store, local.world.blobs, run, asked, screen)


def scan_on_cluster(settings: Settings, named: str, asked: Delivery | None, globs: Globs, quiet: bool) -> int:
    """Submit to the workers; wait and report unless `asked` is None: then say the run's id and return."""
    from jarvis_workers.service import fleet  # noqa: PLC0415  (celery is slow to import)

    with desk.store_of(settings) as store, fleet.bell_of(settings) as bell:
        blobs = desk.blobs_of(settings)
        with display(quiet) as screen:
            with open_source(named) as source:
                run_id = submit(store, blobs, _request(settings, source, globs, fleet.EXECUTOR), screen.packing)
            if asked is None:
                fleet.ring(settings, store, bell)
                typer.echo(run_id)
                return exits.DONE
            run = wait_for_workers(settings, store, run_id, screen)
        return deliver(store, blobs, run, asked, screen)


def wait_for_workers(settings: Settings, store: Store, run_id: str, screen: Display) -> Run:
    """Wait until the workers have ended a run; stopped, leave it to them and say so."""
    from jarvis_workers.service import fleet  # noqa: PLC0415

    with fleet.bell_of(settings) as bell:
        try:
            return fleet.carry_out(settings, store, bell, run_id, show=screen.show, tell=screen.tell)
        except KeyboardInterrupt:
            screen.tell(f"run {run_id} goes on without this command; see: jarvis runs wait {run_id}")
            raise


def _request(settings: Settings, source: Source, globs: Globs, executor: str) -> Request:
    return Request(
        run_id=token_hex(4),
        kind="sec.fast",
        path=source.path,
        root=source.root,
        selection=desk.selection_of(settings, *globs),
        executor=executor,
        min_confidence=settings.report.min_confidence,
        batch_files=settings.scan.batch_files,
        batch_bytes=int(settings.scan.batch_mb * 1_000_000),
        processes=settings.process_count,
    )
