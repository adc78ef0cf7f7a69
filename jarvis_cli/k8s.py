"""`jarvis k8s`: manifests of batches on Kubernetes."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from jarvis_cli.app import App

app = App(no_args_is_help=True, help="Render Kubernetes manifests.")

EXAMPLES = """\
\b
Examples:
  jarvis k8s render sec --source https://host/repo.git@v1.2 --name v1-2 \\
      --values values.yaml --output s3://bucket/v1-2.sarif | kubectl apply -f -
  jarvis k8s render sec --command fast --source /corpus --name corpus \\
      --values values.yaml -- --fail-on high
"""


class Kind(StrEnum):
    sec = "sec"


class SecCommand(StrEnum):
    fast = "fast"
    agent = "agent"


@app.callback()
def k8s() -> None:
    """Render Kubernetes manifests."""


@app.command(epilog=EXAMPLES)
def render(
    kind: Annotated[Kind, typer.Argument(metavar="sec", help="Task of the batch.", show_default=False)],
    source: Annotated[
        str,
        typer.Option(metavar="SOURCE", help="Git URL[@REVISION], or a path in a volume.", show_default=False),
    ],
    name: Annotated[str, typer.Option(metavar="NAME", help="Unique name of the run.", show_default=False)],
    more: Annotated[
        list[str] | None, typer.Argument(metavar="[-- OPTION...]", help="More options of the command.")
    ] = None,
    command: Annotated[
        SecCommand | None, typer.Option(metavar="NAME", help="agent or fast: with or without a model.")
    ] = None,
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="URL", help="Report file, such as s3://bucket/report.sarif.")
    ] = None,
    values: Annotated[Path | None, typer.Option(metavar="FILE", help="Values of the Helm chart.")] = None,
) -> int:
    """Print manifests of a Job that submits a run to the workers, waits for it and uploads the report."""
    from jarvis_workers.service.kubernetes.batch_manifests import batch_manifests, to_yaml  # noqa: PLC0415
    from jarvis_workers.service.kubernetes.batch_values import read_values  # noqa: PLC0415

    chart = read_values(values)
    given = {"source": source, "name": name}
    given |= {"command": command.value} if command else {}
    given |= {"output": output} if output else {}
    batch = chart.batch.model_copy(update={**given, **({"extra_args": more} if more else {})})
    typer.echo(to_yaml(batch_manifests(chart.model_copy(update={"batch": batch}))), nl=False)
    return 0
