"""`jarvis runs diff`: what one scan has found and another has not; each is a run or a report file."""

import re
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Annotated

import typer

from jarvis_cli import exits
from jarvis_cli.options import not_one_of
from jarvis_workers.errors import UsageError

if TYPE_CHECKING:
    from jarvis_workers.service.differences import Report

__all__ = ["EXAMPLES", "diff"]

EXAMPLES = """\
\b
Examples:
  jarvis runs diff 1f3a last                    what has changed since run 1f3a…
  jarvis runs diff old.json new.sarif           two report files, JSON or SARIF
  jarvis runs diff main.sarif last -o diff.html a file and a run, as a page for a review
  jarvis runs diff 1f3a last --fail-on high     exit 1 when something severe is new

\b
Findings are known by file, rule and code, not by line. What was dismissed or suppressed and is a finding now counts
as new for --fail-on. What B has not looked at is "not checked", never "fixed"; with --fail-on a B that was not
checked in full exits 3.
"""
RUN_NAME = re.compile(r"[A-Za-z0-9_-]{1,32}")

Id = Annotated[str, typer.Argument(metavar="A", help='The earlier run (id, its beginning, or "last") or report file.')]
LaterId = Annotated[str, typer.Argument(metavar="B", help="The later run or report file.")]


def diff(
    before: Id,
    after: LaterId,
    form: Annotated[
        str | None,
        typer.Option("--format", metavar="FORMAT", help="text, json, markdown or html; by default as FILE ends."),
    ] = None,
    output: Annotated[str, typer.Option("--output", "-o", metavar="FILE", help="Where to write; - is stdout.")] = "-",
    fail_on: Annotated[
        str | None, typer.Option(metavar="LEVEL", help="Exit 1 at a new finding of this severity or above.")
    ] = None,
) -> int:
    """Compare two runs or report files: what is new, what is fixed, whose verdict has changed."""
    from jarvis_cli.delivery import write_report  # noqa: PLC0415  (the store is slow to import)
    from jarvis_workers.sec.finding import SEVERITIES  # noqa: PLC0415
    from jarvis_workers.sec.report.difference_forms import DIFFERENCE_FORMS, SUFFIXES  # noqa: PLC0415
    from jarvis_workers.service.differences import compare_reports  # noqa: PLC0415

    chosen = form or SUFFIXES.get(PurePath(output).suffix.lower(), "text")
    if chosen not in DIFFERENCE_FORMS:
        raise UsageError(not_one_of("--format", chosen, DIFFERENCE_FORMS))
    if fail_on is not None and fail_on not in SEVERITIES:
        raise UsageError(not_one_of("--fail-on", fail_on, SEVERITIES))
    first, second = _report(before), _report(after)
    sides = compare_reports(first, second)
    write_report(DIFFERENCE_FORMS[chosen](sides), None if output == "-" else Path(output))
    if fail_on is None:
        return exits.DONE
    return exits.of_run(findings=sides.found.reaches(fail_on), incomplete=second.state != "done")


def _report(named: str) -> "Report":
    """Return what a run or a file has reported: a file where its name is no run's."""
    from jarvis_workers.service import desk, runs  # noqa: PLC0415
    from jarvis_workers.service.differences import report_of_file, report_of_run  # noqa: PLC0415
    from jarvis_workers.settings import load_settings  # noqa: PLC0415

    if not RUN_NAME.fullmatch(named):
        return report_of_file(named)
    settings = load_settings(directory=Path.cwd())
    with desk.store_of(settings) as store:
        return report_of_run(store, desk.blobs_of(settings), runs.find_run(store, named))
