"""`jarvis runs`: list, watch, stop, resume and report runs.

Implementations are imported on demand: `--help` and `list` need neither the database libraries nor rich.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from jarvis_cli.kit.app import App
from jarvis_cli.kit.completion import runs as every_run
from jarvis_cli.kit.options import (
    AsJson,
    Budget,
    FailOn,
    Form,
    FormJson,
    Output,
    Quiet,
    RelativeTo,
    RunId,
    TableForm,
    Verbose,
    form_of,
    is_json,
)
from jarvis_workers.sec.commands.diff import EXAMPLES as DIFF_EXAMPLES
from jarvis_workers.sec.commands.diff import diff

if TYPE_CHECKING:
    from jarvis_cli.kit.report_target import Delivery
    from jarvis_workers.settings import Settings

app = App(no_args_is_help=True)

Timeout = Annotated[
    float | None,
    typer.Option(min=0, metavar="SECONDS", help="Stop waiting after this time (exit 4); the run continues."),
]

LIST = """
jarvis runs list -n 5
jarvis runs list --label branch=main --label team
jarvis runs list --json | jq -r '.[].id'
"""
SHOW = """
jarvis runs show last
jarvis runs show 1f3a --json
"""
LABEL = """
jarvis runs label last v1.2
"""
RESUME = """
jarvis runs resume last
jarvis runs resume last --budget 10usd
"""
REPORT = """
jarvis runs report last                 text, as after the scan
jarvis runs report last -o report.html
jarvis runs report 1f3a --json | jq .summary
"""
TRANSCRIPT = """
jarvis runs transcript last
jarvis runs transcript C3fa81b --full
jarvis runs transcript 4711 --json
"""
EXPORT = """
jarvis runs export last
jarvis runs export last -d /tmp/run
"""
PRUNE = """
jarvis runs prune 1f3a 71ea
jarvis runs prune --older-than 30 --answers
"""


@app.command("list", examples=LIST)
def list_runs(
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=1, max=10_000, metavar="NUMBER", help="Number of runs.")
    ] = 20,
    label: Annotated[
        list[str] | None,
        typer.Option("--label", metavar="KEY[=VALUE]", help="Only runs with this label; repeatable: all must match."),
    ] = None,
    as_json: AsJson = False,
    form: TableForm = None,
) -> int:
    """List runs, newest first."""
    from jarvis_cli import run_list  # noqa: PLC0415
    from jarvis_workers.runs.labels import parse_label_filters  # noqa: PLC0415

    labels = parse_label_filters(label or ())
    return run_list.print_runs(_settings(), limit, labels, as_json=is_json(form, as_json))


@app.command(examples=SHOW)
def show(run: RunId, as_json: AsJson = False, form: TableForm = None) -> int:
    """Show a run: its state, its stages, and what to do next."""
    from jarvis_cli import run_views  # noqa: PLC0415

    return run_views.show(_settings(), run, as_json=is_json(form, as_json))


@app.command(examples=LABEL)
def label(
    run: RunId,
    text: Annotated[str, typer.Argument(metavar="LABEL", help="Label, such as v1.2; an empty label removes it.")],
) -> int:
    """Give a run a label, shown in lists and comparisons."""
    from jarvis_cli import run_views  # noqa: PLC0415

    return run_views.label(_settings(), run, text)


@app.command(examples="jarvis runs watch last")
def watch(run: RunId) -> int:
    """Follow a run until it ends."""
    from jarvis_cli.kit import run_control  # noqa: PLC0415

    return run_control.wait(_settings(), run, None, quiet=False)


@app.command(examples="jarvis runs wait 1f3a --timeout 600     exit 4 on timeout")
def wait(run: RunId, timeout: Timeout = None, quiet: Quiet = False) -> int:
    """Wait until a run ends; exit with its exit code."""
    from jarvis_cli.kit import run_control  # noqa: PLC0415

    return run_control.wait(_settings(), run, timeout, quiet=quiet)


@app.command(examples="jarvis runs cancel last")
def cancel(run: RunId) -> int:
    """Cancel a run; the findings so far stay in its report."""
    from jarvis_cli.kit import run_control  # noqa: PLC0415

    return run_control.cancel(_settings(), run)


def _going_on(name: str, summary: str, examples: str) -> None:
    """Add a command that lets jobs of a run go on, then reports as its first command was told to."""

    def command(
        run: RunId,
        output: Output = None,
        form: Form = None,
        as_json: FormJson = False,
        fail_on: FailOn = None,
        relative_to: RelativeTo = None,
        budget: Budget = None,
        quiet: Quiet = False,
        verbose: Verbose = False,
    ) -> int:
        from jarvis_cli.kit import run_control  # noqa: PLC0415

        act = run_control.resume if name == "resume" else run_control.retry
        form = form_of(form, as_json)
        delivery = _delivery(output, form, fail_on, quiet=quiet, verbose=verbose, relative_to=relative_to)
        return act(_settings(), run, delivery, budget, quiet=quiet)

    command.__doc__ = summary
    app.command(name, uses="agents", examples=examples)(command)


_going_on(
    "resume",
    "Continue a run that was interrupted or has spent its budget, then report as its first command was told to.",
    RESUME,
)
_going_on("retry", "Run the failed jobs of an ended run again, then report.", "jarvis runs retry last -o report.html")


@app.command(examples=REPORT)
def report(
    run: RunId,
    output: Output = None,
    form: Form = None,
    as_json: FormJson = False,
    relative_to: RelativeTo = None,
    verbose: Verbose = False,
) -> int:
    """Write the report of a run, or the answer of an agent; if it is running, the results so far."""
    from jarvis_cli import run_views  # noqa: PLC0415

    return run_views.report(
        _settings(), run, _delivery(output, form_of(form, as_json), None, verbose=verbose, relative_to=relative_to)
    )


app.command(epilog=DIFF_EXAMPLES)(diff)


@app.command(examples=TRANSCRIPT)
def transcript(
    job: Annotated[
        str, typer.Argument(metavar="JOB", help="Id of a conversation, of a finding, or of a run with only one.")
    ],
    full: Annotated[bool, typer.Option("--full", help="Print the questions to the model too.")] = False,
    as_json: AsJson = False,
    form: TableForm = None,
) -> int:
    """Print a conversation with a model; if it is running, the messages so far."""
    from jarvis_cli import run_views  # noqa: PLC0415

    return run_views.transcript(_settings(), job, as_json=is_json(form, as_json), full=full)


@app.command(examples=EXPORT)
def export(
    run: RunId,
    directory: Annotated[
        Path | None, typer.Option("--directory", "-d", metavar="DIR", help="Default: ROOT/.jarvis/sec.")
    ] = None,
) -> int:
    """Write the JSONL files of a run: findings, progress, clusters and verdicts."""
    from jarvis_cli import run_views  # noqa: PLC0415

    return run_views.export(_settings(), run, directory)


@app.command(examples=PRUNE)
def prune(
    run: Annotated[
        list[str] | None, typer.Argument(metavar="RUN", help="Runs to delete.", autocompletion=every_run)
    ] = None,
    older_than: Annotated[
        float | None, typer.Option(min=0, metavar="DAYS", help="Delete runs that ended more than DAYS days ago.")
    ] = None,
    cache: Annotated[bool, typer.Option("--cache", help="Clear this machine's cache of scan results.")] = False,
    answers: Annotated[
        bool, typer.Option("--answers", help="Delete cached model answers older than 90 days, or --older-than.")
    ] = False,
) -> int:
    """Delete ended runs, and packed sources that were not used for a day."""
    from jarvis_cli import run_views  # noqa: PLC0415

    return run_views.prune(_settings(), run or [], older_than, cache=cache, answers=answers)


def _settings() -> "Settings":
    from jarvis_workers.settings import load_settings  # noqa: PLC0415

    return load_settings(directory=Path.cwd())


def _delivery(
    output: str | None,
    form: str | None,
    fail_on: str | None,
    *,
    quiet: bool = False,
    verbose: bool = False,
    relative_to: str | None = None,
) -> "Delivery":
    from jarvis_cli.kit.report_target import delivery  # noqa: PLC0415
    from jarvis_workers.sec.severity import SEVERITIES  # noqa: PLC0415

    return delivery(
        output, form, fail_on, None, quiet=quiet, verbose=verbose, relative_to=relative_to, levels=SEVERITIES
    )
