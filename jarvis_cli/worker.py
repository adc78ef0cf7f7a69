"""`jarvis worker`: carry out the runs of a cluster."""

import os
from pathlib import Path
from typing import Annotated

import typer

from jarvis_workers.errors import UsageError

LOOPBACK = ("127.0.0.1", "::1", "localhost")
app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Carry out the runs of a cluster.")


@app.callback()
def worker() -> None:
    """Carry out the runs of a cluster."""


@app.command()
def start(
    queues: Annotated[str | None, typer.Option(help="Which queues, parted by a comma; by default all.")] = None,
    concurrency: Annotated[
        int | None, typer.Option("--concurrency", "-c", min=1, help="Slots of the scan pool.")
    ] = None,
) -> int:
    """Work until SIGTERM: one child a queue, all of them die with this process."""
    from jarvis_workers.service import desk, fleet  # noqa: PLC0415  (celery and the store are slow to import)
    from jarvis_workers.service import worker as service  # noqa: PLC0415
    from jarvis_workers.settings import load_settings  # noqa: PLC0415

    settings = load_settings(directory=Path.cwd())
    plans = service.plan_pools(settings, () if queues is None else queues.split(","), concurrency)
    with desk.store_of(settings, service.PARENT_CONNECTIONS) as store, fleet.bell_of(settings) as bell:
        service.work(settings, store, bell, plans)
    return 0


@app.command()
def flower(
    address: Annotated[
        str, typer.Option(help="Where to listen; beyond this machine only with FLOWER_BASIC_AUTH.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535, help="The port.")] = 5555,
) -> int:
    """Serve Flower, where every job is a task with its run and what it is about."""
    from jarvis_workers.service import worker as service  # noqa: PLC0415
    from jarvis_workers.settings import load_settings  # noqa: PLC0415

    if address not in LOOPBACK and not os.environ.get("FLOWER_BASIC_AUTH"):
        raise UsageError(f"--address {address}: Flower would be open to everybody; set FLOWER_BASIC_AUTH=user:password")
    service.flower(load_settings(directory=Path.cwd()), address, port)
    return 0
