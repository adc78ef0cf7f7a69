"""Compare two conversions of a C project for `jarvis runs diff`."""

from pathlib import Path
from typing import TYPE_CHECKING

from jarvis_cli.kit import exits
from jarvis_cli.kit.options import WORSE, not_one_of
from jarvis_cli.kit.report_target import write_report
from jarvis_cli.kit.run_outcome import counted
from jarvis_cli.kit.status_output import write_line
from jarvis_workers.c2rust.report.difference_formats import CONVERSION_DIFFERENCE_FORMS, ConversionSides
from jarvis_workers.c2rust.runs.conversion_diff import compare_runs
from jarvis_workers.c2rust.runs.result_files import words_of_run
from jarvis_workers.errors import UsageError
from jarvis_workers.paths import plain
from jarvis_workers.runs import wiring
from jarvis_workers.runs.scan_request import blobs_of
from jarvis_workers.settings import load_settings

if TYPE_CHECKING:
    from jarvis_workers.store.values import Run


def compare(before: "Run", after: "Run", *, form: str, file: Path | None, fail_on: str | None) -> int:
    """Write the difference; return the exit code. Raises UsageError."""
    if form not in CONVERSION_DIFFERENCE_FORMS:
        raise UsageError(not_one_of("--format", form, CONVERSION_DIFFERENCE_FORMS))
    if fail_on not in (None, WORSE):
        raise UsageError(f"--fail-on {fail_on} is for findings; for two conversions use --fail-on {WORSE}")
    settings = load_settings(directory=Path.cwd())
    with wiring.store_of(settings, create=False) as store:
        sides = compare_runs(store, blobs_of(settings), before, after)
    write_report(CONVERSION_DIFFERENCE_FORMS[form](sides, words_of_run(after)), file)
    return exits.DONE if fail_on is None else _judged(sides, after.state)


def _judged(sides: ConversionSides, state: str) -> int:
    """Return the exit code, and print the reason if it is not 0."""
    worse, failures = sides.difference.having("worse"), sides.difference.failures
    unread = sides.difference.not_checked
    code = exits.of_run(findings=bool(worse or failures), incomplete=state != "done" or bool(unread))
    if code == exits.FINDINGS:
        first = plain(failures[0] if failures else f"{worse[0].after.file}:{worse[0].after.line} {worse[0].after.name}")
        write_line(f"exit {code}: {counted(len(worse), 'function')} worse (--fail-on {WORSE}); first: {first}")
    elif code:
        reason = f"{counted(len(unread), 'function')} not checked" if unread else "functions may not be checked"
        write_line(f"exit {code}: the later run is {plain(state)}: {reason}")
    return code
