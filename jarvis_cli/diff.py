"""`jarvis runs diff`: what one run has found and another has not."""

from pathlib import Path
from typing import Annotated

import typer

from jarvis_cli import exits
from jarvis_workers.errors import UsageError

__all__ = ["EXAMPLES", "diff"]

EXAMPLES = """\
\b
Examples:
  jarvis runs diff 1f3a last                    what has changed since run 1f3a…
  jarvis runs diff 1f3a last --format markdown  the same for a review
  jarvis runs diff 1f3a last --fail-on high     exit 1 when something severe is new

\b
Findings are known by file, rule and code, not by line. What was dismissed or suppressed and is a finding now counts
as new for --fail-on. What B has not looked at is "not checked", never "fixed"; with --fail-on a B that was not
checked in full exits 3.
"""

Id = Annotated[str, typer.Argument(metavar="A", help='The earlier run: its id, its beginning, or "last".')]
LaterId = Annotated[str, typer.Argument(metavar="B", help="The later run.")]


def diff(
    before: Id,
    after: LaterId,
    form: Annotated[str, typer.Option("--format", metavar="FORMAT", help="text, json or markdown.")] = "text",
    output: Annotated[str, typer.Option("--output", "-o", metavar="FILE", help="Where to write; - is stdout.")] = "-",
    fail_on: Annotated[
        str | None, typer.Option(metavar="LEVEL", help="Exit 1 at a new finding of this severity or above.")
    ] = None,
) -> int:
    """Compare two runs: what is new, what is fixed, whose verdict has changed."""
    from jarvis_cli.deliver import write_report  # noqa: PLC0415  (the store is slow to import)
    from jarvis_workers.sec.finding import SEVERITIES  # noqa: PLC0415
    from jarvis_workers.sec.report.difference_forms import DIFFERENCE_FORMS  # noqa: PLC0415
    from jarvis_workers.service import desk, runs  # noqa: PLC0415
    from jarvis_workers.service.differences import difference  # noqa: PLC0415
    from jarvis_workers.settings import load_settings  # noqa: PLC0415

    if form not in DIFFERENCE_FORMS:
        raise UsageError(f'--format: "{form}" is not one of {", ".join(DIFFERENCE_FORMS)}')
    if fail_on is not None and fail_on not in SEVERITIES:
        raise UsageError(f'--fail-on: "{fail_on}" is not one of {", ".join(SEVERITIES)}')
    settings = load_settings(directory=Path.cwd())
    with desk.store_of(settings) as store:
        first, second = runs.find_run(store, before), runs.find_run(store, after)
        sides = difference(store, desk.blobs_of(settings), first, second)
    write_report(DIFFERENCE_FORMS[form](sides), None if output == "-" else Path(output))
    if fail_on is None:
        return exits.DONE
    return exits.of_run(findings=sides.found.reaches(fail_on), incomplete=second.state != "done")
