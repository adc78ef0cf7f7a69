"""`jarvis metrics`: serve the metrics of the results store to Prometheus."""

from pathlib import Path
from typing import Annotated

import typer

from jarvis_cli.kit.app import App
from jarvis_workers.extras import require

app = App()

EXAMPLES = """
jarvis metrics                                  http://127.0.0.1:9464/metrics
jarvis metrics --host 0.0.0.0                   in a container
"""


@app.command(examples=EXAMPLES)
def metrics(
    host: Annotated[str, typer.Option(metavar="ADDRESS", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, metavar="PORT", help="Port; 0 for any free port.")] = 9464,
) -> int:
    """Serve metrics of the results store to Prometheus: queues, runs, findings, tokens, cost, workers."""
    require("metrics", "jarvis metrics")
    from jarvis_workers.operate.metrics.store_metrics import serve_store_metrics  # noqa: PLC0415
    from jarvis_workers.settings import load_settings  # noqa: PLC0415

    settings = load_settings(directory=Path.cwd())
    serve_store_metrics(settings, host, port, lambda address: typer.echo(f"jarvis metrics: {address}", err=True))
    return 0
