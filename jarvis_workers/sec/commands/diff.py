"""`jarvis runs diff`: compare the findings of two scans, each given as a run or a report file, or two conversions."""

import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from jarvis_cli.kit import exits
from jarvis_cli.kit.options import WORSE, FormJson, Output, form_of
from jarvis_cli.kit.run_outcome import counted
from jarvis_cli.kit.status_output import write_line
from jarvis_workers.errors import UsageError
from jarvis_workers.paths import plain
from jarvis_workers.sec.report.fired_rules import finding_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from jarvis_workers.sec.report.diff_formats import Sides
    from jarvis_workers.sec.run_reports.diff import ReportSide

EXAMPLES = """\
\b
Examples:
  jarvis runs diff 1f3a last                    what has changed since run 1f3a…
  jarvis runs diff old.json new.sarif           two report files, JSON or SARIF
  jarvis runs diff main.sarif last -o diff.html a file and a run, as a page for a review
  jarvis runs diff 1f3a last --fail-on high     exit 1 on a new high finding
  jarvis runs diff 71ea last --fail-on worse    two conversions: exit 1 if a function is worse

\b
Findings are matched by file, rule and code, not by line. A finding that was dismissed or suppressed in A but not in B
counts as new for --fail-on. A finding in a file that B did not check is "not checked", never "fixed"; with --fail-on,
the exit code is 3 if B was not checked in full. Scans of two directories without a common file have different scopes:
nothing in them can be compared. Of two conversions (jarvis c2rust), functions are compared: a function
is worse if its state or proof fell.
"""
LAST = "last"
RUN_NAME = re.compile(r"[A-Za-z0-9_-]{1,32}")

Id = Annotated[str, typer.Argument(metavar="A", help='The earlier run (id, id prefix, or "last") or report file.')]
LaterId = Annotated[str, typer.Argument(metavar="B", help="The later run or report file.")]
Form = Annotated[
    str | None,
    typer.Option(
        "--format", metavar="FORMAT", help="text, json, markdown or html; default: by -o's suffix, else text."
    ),
]
FailOn = Annotated[
    str | None,
    typer.Option(
        metavar="LEVEL", help="Exit 1 on a new finding of this severity or above; worse: on a worse function."
    ),
]


def diff(
    before: Id,
    after: LaterId,
    form: Form = None,
    as_json: FormJson = False,
    output: Output = None,
    fail_on: FailOn = None,
) -> int:
    """Compare two runs or report files: new and fixed findings, changed verdicts."""
    from jarvis_cli.kit import report_target  # noqa: PLC0415
    from jarvis_workers.sec.report.diff_formats import DIFFERENCE_FORMS, DIFFERENCE_SUFFIXES  # noqa: PLC0415
    from jarvis_workers.sec.run_reports.diff import compare_reports  # noqa: PLC0415
    from jarvis_workers.sec.severity import SEVERITIES  # noqa: PLC0415

    form = form_of(form, as_json)
    level = None if fail_on == WORSE else fail_on
    report_target.check_choices(form, DIFFERENCE_FORMS, level, SEVERITIES)
    file = report_target.output_file(output)
    form = form or report_target.form_for(file, "text", DIFFERENCE_SUFFIXES)
    if (compare := _comparison(before, after)) is not None:
        return compare(form=form, file=file, fail_on=fail_on)
    if fail_on == WORSE:
        raise UsageError(f"--fail-on {WORSE} is for two conversions; for findings use high, medium or low")
    first, second = _report(before), _report(after)
    sides = compare_reports(first, second)
    report_target.write_report(DIFFERENCE_FORMS[form](sides), file)
    return exits.DONE if fail_on is None else _judged(sides, second.state, fail_on)


def _judged(sides: "Sides", state: str, fail_on: str) -> int:
    """Return the exit code, and print the reason if it is not 0."""
    added = sides.difference.added(fail_on)
    code = exits.of_run(findings=bool(added), incomplete=state != "done" or bool(sides.scopes))
    if code == exits.FINDINGS:
        first = plain(f"{added[0].candidate.file}:{added[0].candidate.line} {finding_name(added[0])}")
        number = counted(len(added), "new finding")
        write_line(f"exit {code}: {number} at or above {fail_on} (--fail-on {fail_on}); first: {first}")
    elif code and sides.scopes:
        write_line(f"exit {code}: the scans have different scopes: {plain('; '.join(sides.scopes))}")
    elif code:
        write_line(f"exit {code}: the later run is {plain(state)}: findings may be missing")
    return code


def _comparison(before: str, after: str) -> "Callable[..., int] | None":
    """Return what compares two runs of kinds with a comparison of their own, None for findings.

    Raises UsageError if only one of them has it.
    """
    if not any(map(RUN_NAME.fullmatch, (before, after))):
        return None
    from jarvis_workers.runs import runs, wiring  # noqa: PLC0415
    from jarvis_workers.runs.run_kinds import comparison_of  # noqa: PLC0415
    from jarvis_workers.settings import load_settings  # noqa: PLC0415

    with wiring.store_of(load_settings(directory=Path.cwd()), create=False) as store:
        found = [runs.find_run(store, one) if RUN_NAME.fullmatch(one) else None for one in (before, after)]
    compare = [comparison_of(one) if one else None for one in found]
    # Beside a scan or a report file, "last" is the last scan.
    deciding = [place for place, one in enumerate((before, after)) if one != LAST] or [0, 1]
    if not any(compare[place] for place in deciding):
        return None
    first, second = found
    if first is None or second is None or compare[0] is None or compare[0] != compare[1]:
        names = [
            f"{one.kind} run {one.id}" if one else f"report file {named}"
            for one, named in zip(found, (before, after), strict=True)
        ]
        raise UsageError(f"{names[0]} and {names[1]} cannot be compared: a conversion has functions, a scan findings")
    return partial(compare[0], first, second)


def _report(named: str) -> "ReportSide":
    """Return the report of a run, or of a file if there is no run of that name."""
    from jarvis_workers.runs import wiring  # noqa: PLC0415
    from jarvis_workers.runs.scan_request import blobs_of  # noqa: PLC0415
    from jarvis_workers.sec.run_reports.diff import report_of_file, report_of_run  # noqa: PLC0415
    from jarvis_workers.sec.runs import scan_runs  # noqa: PLC0415
    from jarvis_workers.settings import load_settings  # noqa: PLC0415

    if not RUN_NAME.fullmatch(named):
        return report_of_file(named)
    settings = load_settings(directory=Path.cwd())
    with wiring.store_of(settings, create=False) as store:
        return report_of_run(store, blobs_of(settings), scan_runs.find_scan(store, named))
