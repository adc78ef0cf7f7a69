"""`jarvis runs`: list, watch, stop, resume and report runs.

What a command does is imported when it runs: `--help` and `list` need neither the store's libraries nor rich.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from jarvis_cli.diff import EXAMPLES as DIFF_EXAMPLES
from jarvis_cli.diff import diff
from jarvis_cli.options import Budget, Form, Output, Quiet

if TYPE_CHECKING:
    from jarvis_cli.deliver import Delivery
    from jarvis_workers.settings import Settings

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="List, watch, stop, resume and report runs.")

RunId = Annotated[str, typer.Argument(metavar="RUN", help='A run\'s id, its beginning, or "last".')]
FailOn = Annotated[str | None, typer.Option(metavar="LEVEL", help="Exit 1 at a finding of this severity or above.")]
AsJson = Annotated[bool, typer.Option("--json", help="JSON output.")]
Timeout = Annotated[
    float | None,
    typer.Option(min=0, metavar="SECONDS", help="Give up waiting after this many seconds (exit 4); the run goes on."),
]


@app.callback()
def group() -> None:
    """List, watch, stop, resume and report runs."""


@app.command("list")
def list_runs(
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=1, max=10_000, metavar="NUMBER", help="How many, the newest first.")
    ] = 20,
    as_json: AsJson = False,
) -> int:
    """List runs, the newest first."""
    from jarvis_cli import run_list  # noqa: PLC0415

    return run_list.print_runs(_settings(), limit, as_json=as_json)


@app.command()
def show(run: RunId, as_json: AsJson = False) -> int:
    """Show a run: its state, its stages, and what to do next."""
    from jarvis_cli import run_views  # noqa: PLC0415

    return run_views.show(_settings(), run, as_json=as_json)


@app.command()
def label(
    run: RunId, text: Annotated[str, typer.Argument(metavar="LABEL", help="Such as v1.2; an empty one removes it.")]
) -> int:
    """Name a run, so that lists and comparisons tell which one it was."""
    from jarvis_cli import run_views  # noqa: PLC0415

    return run_views.label(_settings(), run, text)


@app.command()
def watch(run: RunId) -> int:
    """Follow a run until it ends."""
    from jarvis_cli import run_control  # noqa: PLC0415

    return run_control.wait(_settings(), run, None, quiet=False)


@app.command()
def wait(run: RunId, timeout: Timeout = None, quiet: Quiet = False) -> int:
    """Wait until a run has ended; exit as it would have."""
    from jarvis_cli import run_control  # noqa: PLC0415

    return run_control.wait(_settings(), run, timeout, quiet=quiet)


@app.command()
def cancel(run: RunId) -> int:
    """Cancel a run; what was found so far stays in its report."""
    from jarvis_cli import run_control  # noqa: PLC0415

    return run_control.cancel(_settings(), run)


@app.command()
def resume(
    run: RunId,
    output: Output = None,
    form: Form = None,
    fail_on: FailOn = None,
    budget: Budget = None,
    quiet: Quiet = False,
) -> int:
    """Go on with a run that was interrupted, has spent its budget, or whose command has died; then report."""
    from jarvis_cli import run_control  # noqa: PLC0415

    return run_control.resume(_settings(), run, _delivery(output, form, fail_on, quiet=quiet), budget, quiet=quiet)


@app.command()
def retry(
    run: RunId,
    output: Output = None,
    form: Form = None,
    fail_on: FailOn = None,
    budget: Budget = None,
    quiet: Quiet = False,
) -> int:
    """Do the failed jobs of an ended run again, and only those; then report."""
    from jarvis_cli import run_control  # noqa: PLC0415

    return run_control.retry(_settings(), run, _delivery(output, form, fail_on, quiet=quiet), budget, quiet=quiet)


@app.command()
def report(run: RunId, output: Output = None, form: Form = None) -> int:
    """Write the report of any run, or an agent's answer; of a run that is not done, what there is by now."""
    from jarvis_cli import run_views  # noqa: PLC0415

    return run_views.report(_settings(), run, _delivery(output, form, None))


app.command(epilog=DIFF_EXAMPLES)(diff)


@app.command()
def transcript(
    job: Annotated[str, typer.Argument(metavar="JOB", help="A conversation's id, or a run that has only one.")],
    as_json: AsJson = False,
) -> int:
    """Show what was said in a conversation, of one that is on what there is by now."""
    from jarvis_cli import run_views  # noqa: PLC0415

    return run_views.transcript(_settings(), job, as_json=as_json)


@app.command()
def export(
    run: RunId,
    directory: Annotated[
        Path | None, typer.Option("--directory", "-d", metavar="DIR", help="By default ROOT/.jarvis/sec.")
    ] = None,
) -> int:
    """Write a run's files: heuristic_issues.jsonl, progress.jsonl; with agents cluster_report and agent_issues, too."""
    from jarvis_cli import run_views  # noqa: PLC0415

    return run_views.export(_settings(), run, directory)


@app.command()
def prune(
    run: Annotated[list[str] | None, typer.Argument(metavar="RUN", help="Runs to delete; or --older-than.")] = None,
    older_than: Annotated[
        float | None, typer.Option(min=0, metavar="DAYS", help="Delete runs that ended more than this many days ago.")
    ] = None,
    cache: Annotated[
        bool, typer.Option("--cache", help="Forget what earlier scans found out, on this machine.")
    ] = False,
    answers: Annotated[
        bool, typer.Option("--answers", help="Forget models' answers of more than 90 days ago, or of --older-than.")
    ] = False,
) -> int:
    """Delete ended runs, and the packed sources that no run has wanted for a day."""
    from jarvis_cli import run_views  # noqa: PLC0415

    return run_views.prune(_settings(), run or [], older_than, cache=cache, answers=answers)


def _settings() -> "Settings":
    from jarvis_workers.settings import load_settings  # noqa: PLC0415

    return load_settings(directory=Path.cwd())


def _delivery(output: str | None, form: str | None, fail_on: str | None, *, quiet: bool = False) -> "Delivery":
    from jarvis_cli.deliver import delivery  # noqa: PLC0415

    return delivery(output, form, fail_on, None, quiet=quiet)
