"""`jarvis runs diff`: compare the findings of two scans, each given as a run or a report file."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from jarvis_cli import exits
from jarvis_cli.options import FormJson, Output, form_of
from jarvis_cli.run_outcome import counted
from jarvis_cli.status_output import write_line
from jarvis_workers.paths import plain

if TYPE_CHECKING:
    from jarvis_workers.sec.report.diff_formats import Sides
    from jarvis_workers.service.reports.diff import ReportSide

EXAMPLES = """\
\b
Examples:
  jarvis runs diff 1f3a last                    what has changed since run 1f3a…
  jarvis runs diff old.json new.sarif           two report files, JSON or SARIF
  jarvis runs diff main.sarif last -o diff.html a file and a run, as a page for a review
  jarvis runs diff 1f3a last --fail-on high     exit 1 on a new high finding

\b
Findings are matched by file, rule and code, not by line. A finding that was dismissed or suppressed in A but not in B
counts as new for --fail-on. A finding in a file that B did not check is "not checked", never "fixed"; with --fail-on,
the exit code is 3 if B was not checked in full.
"""
RUN_NAME = re.compile(r"[A-Za-z0-9_-]{1,32}")

Id = Annotated[str, typer.Argument(metavar="A", help='The earlier run (id, id prefix, or "last") or report file.')]
LaterId = Annotated[str, typer.Argument(metavar="B", help="The later run or report file.")]
Form = Annotated[
    str | None,
    typer.Option(
        "--format", metavar="FORMAT", help="text, json, markdown or html; default: by -o's suffix, else text."
    ),
]
FailOn = Annotated[str | None, typer.Option(metavar="LEVEL", help="Exit 1 on a new finding of this severity or above.")]


def diff(
    before: Id,
    after: LaterId,
    form: Form = None,
    as_json: FormJson = False,
    output: Output = None,
    fail_on: FailOn = None,
) -> int:
    """Compare two runs or report files: new and fixed findings, changed verdicts."""
    from jarvis_cli import report_target  # noqa: PLC0415
    from jarvis_workers.sec.report.diff_formats import DIFFERENCE_FORMS, DIFFERENCE_SUFFIXES  # noqa: PLC0415
    from jarvis_workers.service.reports.diff import compare_reports  # noqa: PLC0415

    form = form_of(form, as_json)
    report_target.check_choices(form, DIFFERENCE_FORMS, fail_on)
    file = report_target.output_file(output)
    form = form or report_target.form_for(file, "text", DIFFERENCE_SUFFIXES)
    first, second = _report(before), _report(after)
    sides = compare_reports(first, second)
    report_target.write_report(DIFFERENCE_FORMS[form](sides), file)
    return exits.DONE if fail_on is None else _judged(sides, second.state, fail_on)


def _judged(sides: "Sides", state: str, fail_on: str) -> int:
    """Return the exit code, and print the reason if it is not 0."""
    added = sides.difference.added(fail_on)
    code = exits.of_run(findings=bool(added), incomplete=state != "done")
    if code == exits.FINDINGS:
        first = plain(f"{added[0].file}:{added[0].line} {added[0].pattern}")
        number = counted(len(added), "new finding")
        write_line(f"exit {code}: {number} at or above {fail_on} (--fail-on {fail_on}); first: {first}")
    elif code:
        write_line(f"exit {code}: the later run is {plain(state)}: findings may be missing")
    return code


def _report(named: str) -> "ReportSide":
    """Return the report of a run, or of a file if there is no run of that name."""
    from jarvis_workers.service import runs, wiring  # noqa: PLC0415
    from jarvis_workers.service.reports.diff import report_of_file, report_of_run  # noqa: PLC0415
    from jarvis_workers.settings import load_settings  # noqa: PLC0415

    if not RUN_NAME.fullmatch(named):
        return report_of_file(named)
    settings = load_settings(directory=Path.cwd())
    with wiring.store_of(settings) as store:
        return report_of_run(store, wiring.blobs_of(settings), runs.find_run(store, named))
