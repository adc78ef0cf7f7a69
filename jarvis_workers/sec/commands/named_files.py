"""Files that options name: verdicts that a scan uses, imports and exports, and reports of other analyzers."""

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import typer

from jarvis_cli.kit import exits
from jarvis_cli.kit.report_target import STDOUT, write_report
from jarvis_cli.kit.run_outcome import counted
from jarvis_workers.errors import UsageError
from jarvis_workers.paths import plain
from jarvis_workers.runs.atomic_write import write_whole
from jarvis_workers.sec.alerts.alert import Alert, UnreadableReport
from jarvis_workers.sec.alerts.alert import counted as counted_alerts
from jarvis_workers.sec.alerts.report_forms import ALERTS_MAX, BYTES_MAX, TOO_LARGE, TOO_MANY, read_alerts
from jarvis_workers.sec.commands import bulk_triage
from jarvis_workers.sec.commands.triage_context import TriageContext, operation, report_done
from jarvis_workers.sec.run_reports.run_baselines import of_run
from jarvis_workers.sec.runs.scan_input import Triage
from jarvis_workers.sec.stages.place_alerts import alerts_to_bytes
from jarvis_workers.sec.triage import records
from jarvis_workers.sec.triage.file import read_triage, triage_text, would_lose
from jarvis_workers.sec.triage.records import stored_judgements
from jarvis_workers.sec.triage_record import Judgement

PROBLEMS_SHOWN = 20


def triage_of_options(named: str | None, *, nobody: bool, learned: bool) -> Triage:
    """Return the verdicts that a scan uses; `named` is a file of verdicts. Raises UsageError."""
    if nobody and named is not None:
        raise UsageError("--triage and --no-triage cannot be combined")
    more = () if named is None else _read_file(named)
    return Triage(stored=not nobody, more=more, named=None if named is None else plain(named), learns=learned)


def alerts_of(reports: Sequence[Path], *, quiet: bool) -> bytes:
    """Return the findings of other analyzers; say how many there are of which. Raises UsageError."""
    alerts: list[Alert] = []
    for report in reports:
        try:
            with report.open("rb") as file:
                # A file that is too large is not read; a pipe has no size.
                if os.fstat(file.fileno()).st_size > BYTES_MAX:
                    raise UnreadableReport(TOO_LARGE)
                found = read_alerts(file.read(BYTES_MAX + 1))
        except OSError as error:
            hint = " (-p names the tree)" if isinstance(error, IsADirectoryError) else ""
            what = f"{error.strerror}; it is to be a report of an analyzer{hint}"
            raise UsageError(f"{plain(str(report))}: {what}") from None
        except UnreadableReport as problem:
            raise UsageError(f"{plain(str(report))}: {problem}") from None
        alerts += found.alerts
        if len(alerts) > ALERTS_MAX:
            raise UsageError(f"{plain(str(report))}: {TOO_MANY}")
        if not quiet:
            typer.echo(f"jarvis: {plain(str(report))}: {_numbers(found.alerts, found.left_out)}", err=True)
    return alerts_to_bytes(counted_alerts(alerts))


def _numbers(alerts: Sequence[Alert], left_out: Mapping[str, int]) -> str:
    tools: Counter[str] = Counter()
    for one in alerts:
        tools[plain(one.tool)] += one.times
    says = ", ".join(f"{number:,} of {tool}" for tool, number in sorted(tools.items())) or "no findings"
    if equal := tools.total() - len(alerts):
        says += f"; {equal:,} equal to others"
    return says + "".join(f"; {number:,} left out: {plain(reason)}" for reason, number in sorted(left_out.items()))


def import_file(place: TriageContext, named: str) -> int:
    """Import the verdicts of a file, unless the store has later ones."""
    judgements = _read_file(named)
    news = records.merge_judgements(place.store, judgements, operation(f"import {plain(named)}"))
    undo = f"; {bulk_triage.UNDO}" if news else ""
    return report_done(f"{plain(named)}: {counted(len(judgements), 'verdict')}, {news:,} of them new{undo}")


def export_file(place: TriageContext, named: str) -> int:
    """Export the verdicts on the findings of the run, or all verdicts."""
    judgements = list(stored_judgements(place.store).values())
    if place.named is not None:
        fingerprints = of_run(place.store, place.named, "", {}).counts
        judgements = [one for one in judgements if one.fingerprint in fingerprints]
    output = None if named == STDOUT else Path(named)
    if output and (lost := would_lose(output, judgements)):
        what = f"contains {counted(lost, 'verdict')} that would be missing from the new file"
        raise UsageError(f"--export {plain(named)}: {what}; import it with --import, or remove it")
    if output is None:
        write_report(triage_text(judgements), None)
        return exits.DONE
    if not output.resolve().parent.is_dir():
        raise UsageError(f"--export {plain(named)}: its directory does not exist; create it, or choose another file")
    try:
        write_whole(output.resolve(), triage_text(judgements))
    except OSError as error:
        raise UsageError(f"--export {plain(named)}: cannot be written: {error.strerror}") from error
    return report_done(f"{counted(len(judgements), 'verdict')} written to {plain(named)}")


def _read_file(named: str) -> tuple[Judgement, ...]:
    """Read a file of verdicts. Raises UsageError for invalid entries, after printing them."""
    document = read_triage(Path(named))
    for problem in document.problems[:PROBLEMS_SHOWN]:
        typer.echo(problem, err=True)
    if document.problems:
        what = f"{len(document.problems):,} of its entries are invalid, so none was imported"
        raise UsageError(f"{plain(named)}: {what}; fix or remove the entries named above")
    return document.judgements
