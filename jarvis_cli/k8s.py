"""`jarvis k8s`: manifests of batches on Kubernetes."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from jarvis_cli.kit.app import App

app = App(no_args_is_help=True, help="Render Kubernetes manifests.")

EXAMPLES = """\
\b
Examples:
  jarvis k8s render sec --source https://host/repo.git@v1.2 --name v1-2 \\
      --values values.yaml --output s3://bucket/v1-2.sarif | kubectl apply -f -
  jarvis k8s render sec --command fast --source /corpus --name corpus \\
      --values values.yaml -- --fail-on high
  jarvis k8s render c2rust --source https://host/zlib.git@v1.3.1 --name zlib \\
      --values values.yaml -- --configure ./configure --build make --test 'make test'
"""


class Kind(StrEnum):
    sec = "sec"
    c2rust = "c2rust"


class BatchCommand(StrEnum):
    fast = "fast"
    agent = "agent"
    transpile = "transpile"
    scan = "scan"


@app.callback()
def k8s() -> None:
    """Render Kubernetes manifests."""


@app.command(uses="none", epilog=EXAMPLES)
def render(
    kind: Annotated[Kind, typer.Argument(metavar="KIND", help="sec, or c2rust for C projects.", show_default=False)],
    source: Annotated[
        str,
        typer.Option(metavar="SOURCE", help="Git URL[@REVISION], or a path in a volume.", show_default=False),
    ],
    name: Annotated[str, typer.Option(metavar="NAME", help="Unique name of the run.", show_default=False)],
    more: Annotated[
        list[str] | None, typer.Argument(metavar="[-- OPTION...]", help="Further options for the command.")
    ] = None,
    command: Annotated[
        BatchCommand | None,
        typer.Option(
            metavar="NAME",
            help="sec: agent (default) or fast, without a model; c2rust: fast (default), transpile or scan.",
        ),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="URL",
            help="Report file, such as s3://bucket/report.sarif; for a crate, a directory.",
        ),
    ] = None,
    values: Annotated[Path | None, typer.Option(metavar="FILE", help="Values file of the Helm chart.")] = None,
) -> int:
    """Print manifests of a Job that submits a run to the workers, waits for it and uploads the report."""
    from jarvis_workers.operate.kubernetes.batch_manifests import COMMANDS, batch_manifests, to_yaml  # noqa: PLC0415
    from jarvis_workers.operate.kubernetes.batch_values import read_values  # noqa: PLC0415

    chart = read_values(values)
    default = COMMANDS[kind][0] if chart.batch.kind != kind else chart.batch.command
    options = {"source": source, "name": name, "kind": kind.value, "command": command.value if command else default}
    options |= {"output": output} if output else {}
    batch = chart.batch.model_copy(update={**options, **({"extra_args": more} if more else {})})
    typer.echo(to_yaml(batch_manifests(chart.model_copy(update={"batch": batch}))), nl=False)
    return 0
