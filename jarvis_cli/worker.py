"""`jarvis worker`: run cluster workers."""

import os
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Annotated

import typer

from jarvis_cli.kit import exits
from jarvis_cli.kit.app import App
from jarvis_workers.extras import require
from jarvis_workers.paths import plain

app = App(no_args_is_help=True)

EXAMPLES = """
jarvis worker start                             all queues
jarvis worker start --queues scan,control -c 8
jarvis worker start --metrics-port 9465         for Prometheus
jarvis doctor                                   check the servers
"""
HEALTHCHECK_EXAMPLES = """
jarvis worker healthcheck                       for containers and probes
jarvis worker healthcheck --max-age 30
"""
FLOWER_EXAMPLES = """
jarvis worker flower                            http://127.0.0.1:5555
FLOWER_BASIC_AUTH=user:password jarvis worker flower --address 0.0.0.0
"""


@app.command(uses="none", examples=EXAMPLES)
def start(
    queues: Annotated[
        list[str] | None,
        typer.Option(metavar="NAMES", help="scan, agent, build, translate, control; comma-separated; default: all."),
    ] = None,
    concurrency: Annotated[
        int | None,
        typer.Option(
            "--concurrency",
            "-c",
            min=1,
            metavar="NUMBER",
            help="Processes of the pools scan and build; for each of them, translate has 16 conversations.",
        ),
    ] = None,
    metrics_port: Annotated[
        int | None,
        typer.Option(min=0, max=65535, metavar="PORT", help="Serve metrics to Prometheus on this port."),
    ] = None,
    metrics_host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Address to serve metrics on; the default is all.")
    ] = "0.0.0.0",
) -> int:
    """Start a worker; runs until SIGTERM, one subprocess per queue."""
    from jarvis_cli.kit.program_trust import OF_WORKERS, approve_programs  # noqa: PLC0415
    from jarvis_workers.operate import worker as service  # noqa: PLC0415
    from jarvis_workers.operate.pool_plans import plan_pools  # noqa: PLC0415
    from jarvis_workers.runs import remote, wiring  # noqa: PLC0415
    from jarvis_workers.settings import load_settings  # noqa: PLC0415

    approve_programs(required=OF_WORKERS)
    settings = load_settings(directory=Path.cwd())
    with ExitStack() as resources:
        directory = resources.enter_context(_metrics(metrics_host, metrics_port)) if metrics_port is not None else None
        names = () if queues is None else ",".join(queues).split(",")
        plans = plan_pools(settings, names, concurrency, directory)
        store = resources.enter_context(wiring.store_of(settings, service.PARENT_CONNECTIONS))
        service.work(settings, store, resources.enter_context(remote.notifier_of(settings)), plans)
    return 0


def _metrics(host: str, port: int) -> AbstractContextManager[str]:
    require("metrics", "--metrics-port")
    from jarvis_workers.operate.metrics.worker_metrics import serve_worker_metrics  # noqa: PLC0415  (an extra)

    return serve_worker_metrics(host, port)


@app.command(uses="none", examples=HEALTHCHECK_EXAMPLES)
def healthcheck(
    max_age: Annotated[
        float,
        typer.Option(
            min=0,
            metavar="SECONDS",
            help="Maximum age of the last heartbeat in seconds; the default is four leases.",
        ),
    ] = 120,
) -> int:
    """Check that a worker of this data directory is alive: exit code 0, else 1 and the reason."""
    from jarvis_workers.runs.liveness import worker_problem  # noqa: PLC0415

    problem = worker_problem(os.environ, Path.cwd(), max_age)
    if problem:
        typer.echo(f"jarvis: {plain(problem)}", err=True)
    return exits.NOT_ALIVE if problem else exits.DONE


@app.command(examples=FLOWER_EXAMPLES)
def flower(
    address: Annotated[
        str,
        typer.Option(metavar="ADDRESS", help="Address to listen on; beyond loopback only with FLOWER_BASIC_AUTH."),
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535, metavar="PORT", help="Port to listen on.")] = 5555,
) -> int:
    """Start the Flower dashboard."""
    from jarvis_workers.operate.flower_page import serve_flower  # noqa: PLC0415
    from jarvis_workers.settings import load_settings  # noqa: PLC0415

    serve_flower(load_settings(directory=Path.cwd()), address, port, os.environ)
    return 0
