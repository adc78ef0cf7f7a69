"""Execute `jarvis sec triage`; each verdict is saved immediately."""

import json
import os
import stat
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import typer

from jarvis_cli.kit import exits
from jarvis_cli.kit.keys import read_key, read_line
from jarvis_cli.kit.report_target import STDOUT, write_report
from jarvis_cli.kit.run_outcome import counted
from jarvis_cli.kit.status_output import write_line
from jarvis_workers.errors import UsageError
from jarvis_workers.paths import from_shown, plain
from jarvis_workers.runs import wiring
from jarvis_workers.runs.atomic_write import write_whole
from jarvis_workers.runs.scan_request import blobs_of
from jarvis_workers.sec.commands import bulk_triage
from jarvis_workers.sec.commands.finding_card import card, listing
from jarvis_workers.sec.commands.scan_outcome import shown_prefix
from jarvis_workers.sec.commands.triage_session import (
    KEYS,
    AskQuestion,
    EditFinding,
    SaveVerdict,
    Session,
    ShowFinding,
    judge_findings,
)
from jarvis_workers.sec.report_document import Issue
from jarvis_workers.sec.run_reports.reports import read_body
from jarvis_workers.sec.run_reports.run_baselines import of_run
from jarvis_workers.sec.runs.scan_input import Triage
from jarvis_workers.sec.runs.scan_runs import ScanRun, find_scan, is_complete
from jarvis_workers.sec.triage import queue, records
from jarvis_workers.sec.triage.file import read_triage, triage_text, would_lose
from jarvis_workers.sec.triage.queue import OPEN, WORDS, Excerpts, Filter, Sheet, matching
from jarvis_workers.sec.triage.records import Named, stored_judgements
from jarvis_workers.sec.triage_record import Judgement
from jarvis_workers.sec.triage_states import TriageState
from jarvis_workers.settings import load_settings
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Run
from jarvis_workers.toolchain.editors import editor_command, open_editor

PROBLEMS_SHOWN = 20
LISTED = ("id", "fingerprint", "status", "severity", "score", "file", "line", "pattern")


class Mark(NamedTuple):
    """A verdict on the finding with this id or fingerprint; for a bulk mark `named` is empty."""

    named: str
    state: TriageState
    reason: str


@dataclass(frozen=True)
class TriageContext:
    """The store, and the selected run, if any."""

    store: Store
    blobs: Blobs
    named: ScanRun | None

    @property
    def run(self) -> ScanRun:
        if self.named is None:
            raise UsageError("name a run, such as last; see: jarvis runs list")
        return self.named

    def sheet(self) -> Sheet:
        return queue.findings_of(self.store, self.blobs, self.run)


@contextmanager
def open_context(run: str | None, *, create: bool) -> Iterator[TriageContext]:
    """Open the store of this directory's settings, which a command may `create`, and find the run."""
    settings = load_settings(directory=Path.cwd())
    with wiring.store_of(settings, tell=write_line, create=create) as store:
        yield TriageContext(store, blobs_of(settings), None if run is None else find_scan(store, run))


def triage_of_options(named: str | None, *, nobody: bool, learned: bool) -> Triage:
    """Return the verdicts that a scan uses; `named` is a file of verdicts. Raises UsageError."""
    if nobody and named is not None:
        raise UsageError("--triage and --no-triage cannot be combined")
    more = () if named is None else _read_file(named)
    return Triage(stored=not nobody, more=more, named=None if named is None else plain(named), learns=learned)


def import_file(place: TriageContext, named: str) -> int:
    """Import the verdicts of a file, unless the store has later ones."""
    judgements = _read_file(named)
    news = records.merge_judgements(place.store, judgements, _operation(f"import {plain(named)}"))
    undo = f"; {bulk_triage.UNDO}" if news else ""
    return _report_done(f"{plain(named)}: {counted(len(judgements), 'verdict')}, {news:,} of them new{undo}")


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
    return _report_done(f"{counted(len(judgements), 'verdict')} written to {plain(named)}")


def mark(place: TriageContext, marks: Sequence[Mark]) -> int:
    """Save verdicts on findings given by name: all of them or none."""
    findings = place.sheet().findings
    judgements = [queue.judgement(queue.find_finding(findings, one.named), one.state, one.reason) for one in marks]
    what = f"{counted(len(judgements), 'finding')} judged"
    records.judge(place.store, judgements, _operation(what))
    return _report_done(f"{what}; {bulk_triage.UNDO}")


def mark_all(place: TriageContext, criteria: Filter, one: Mark, *, judged: bool, ask: bool) -> int:
    """Save a verdict on all findings that match a filter."""
    findings = _listed(place)
    criteria = _from_here(place, criteria)
    return bulk_triage.mark_all(place.store, findings, criteria, one.state, one.reason, judged=judged, ask=ask)


def undo(place: TriageContext) -> int:
    """Undo the user's last operation."""
    return bulk_triage.undo(place.store)


def forget(place: TriageContext, names: Sequence[str]) -> int:
    """Delete the verdicts on findings."""
    findings = place.sheet().findings
    what = f"{counted(len(names), 'verdict')} removed"
    records.forget(place.store, [queue.find_finding(findings, one).fingerprint for one in names], _operation(what))
    return _report_done(f"{what}; {bulk_triage.UNDO}")


def show(place: TriageContext, criteria: Filter, *, as_json: bool) -> int:
    """List the findings that match a filter."""
    judgements = stored_judgements(place.store)
    findings = matching(_listed(place), judgements, _from_here(place, criteria), judged=True)
    if as_json:
        typer.echo(json.dumps([_row(issue, judgements.get(issue.fingerprint)) for issue in findings], indent=2))
    elif not findings:
        says = f"no finding matches {criteria}" if criteria else "the run has no findings"
        typer.echo(_nothing_listed(place, says), err=True)
    else:
        typer.echo(listing(findings, judgements))
        typer.echo(_counts(findings, judgements), err=True)
    return exits.DONE


def run_session(place: TriageContext, criteria: Filter, *, everything: bool) -> int:
    """Start a session over the findings that match a filter, without judged ones unless `everything` is set."""
    judgements = stored_judgements(place.store)
    open_ones = list(
        queue.one_each(matching(_listed(place), judgements, _from_here(place, criteria), judged=everything))
    )
    if not open_ones:
        matched = f" that matches {criteria}" if criteria else ""
        says = f"no findings are left to judge in run {place.run.id}{matched}; to see judged ones: --all"
        return _report_done(_nothing_listed(place, says))
    findings, twins = [issue for issue, _ in open_ones], [lines for _, lines in open_ones]
    excerpts = Excerpts(place.blobs, place.run.snapshot_id, findings)

    def draw(shown: ShowFinding) -> str:
        number = f"{shown.place + 1} of {len(findings)}"
        issue, lines = findings[shown.place], twins[shown.place]
        return card(issue, excerpts.at(shown.place, shown.around), twins=lines, judgement=shown.verdict, place=number)

    def edit(at: EditFinding) -> str:
        return _open_in_editor(place.run, findings[at.place])

    session_judgements: dict[str, Judgement] = {}
    try:
        for judgement in _drive(judge_findings(findings, judgements), draw, edit):
            records.judge(place.store, [judgement])
            session_judgements[judgement.fingerprint] = judgement
    except KeyboardInterrupt:
        typer.echo(f"\n{_session_summary(place.run, session_judgements, len(findings))}", err=True)
        raise
    return _report_done(_session_summary(place.run, session_judgements, len(findings)))


def _counts(findings: Sequence[Issue], judgements: Mapping[str, Judgement]) -> str:
    """Return a line with the numbers of findings and verdicts."""
    judged = (judgements.get(one.fingerprint) for one in findings)
    states = Counter(OPEN if verdict is None else WORDS[verdict.verdict] for verdict in judged)
    return (
        f"{counted(len(findings), 'finding')}: {', '.join(f'{number:,} {state}' for state, number in states.items())}"
    )


def _from_here(place: TriageContext, criteria: Filter) -> Filter:
    """Let --file match paths as the text report shows them from this directory."""
    return replace(criteria, prefix=shown_prefix(place.run))


def _listed(place: TriageContext) -> list[Issue]:
    sheet = place.sheet()
    if sheet.not_listed:
        typer.echo(f"not shown: {counted(sheet.not_listed, 'finding')} beyond the limit of the report", err=True)
    return sheet.findings


def _nothing_listed(place: TriageContext, says: str) -> str:
    """Return what `says` that nothing is listed; of a scan that is not complete, that it may lack findings."""
    run = place.run
    if is_complete(run, read_body(place.store, place.blobs, run).summary):
        return says
    return f"nothing is listed, but run {run.id} is {run.state} and may lack findings; see: jarvis runs show {run.id}"


def _drive(
    sitting: Session, draw: Callable[[ShowFinding], str], edit: Callable[[EditFinding], str]
) -> Iterator[Judgement]:
    """Drive a session on the terminal, and yield the verdicts to save."""
    terminal = sys.stdin.fileno()
    with suppress(StopIteration):
        step = next(sitting)
        while True:
            answer = ""
            if isinstance(step, SaveVerdict):
                yield step.verdict
            elif isinstance(step, EditFinding):
                answer = edit(step)
            else:
                answer = _read_answer(terminal, step, draw)
            step = sitting.send(answer)


def _read_answer(terminal: int, step: ShowFinding | AskQuestion, draw: Callable[[ShowFinding], str]) -> str:
    if isinstance(step, AskQuestion):
        typer.echo(step.question, nl=False)
        return read_line(terminal)
    typer.echo("\n".join(map(plain, step.hint.splitlines())) if step.hint else f"{draw(step)}\n")
    key = read_key(terminal, lambda: typer.echo(f"{KEYS} > ", nl=False))
    typer.echo(key if key.isprintable() else "")
    return key


def _read_file(named: str) -> tuple[Judgement, ...]:
    """Read a file of verdicts. Raises UsageError for invalid entries, after printing them."""
    document = read_triage(Path(named))
    for problem in document.problems[:PROBLEMS_SHOWN]:
        typer.echo(problem, err=True)
    if document.problems:
        what = f"{len(document.problems):,} of its entries are invalid, so none was imported"
        raise UsageError(f"{plain(named)}: {what}; fix or remove the entries named above")
    return document.judgements


def _row(issue: Issue, verdict: Judgement | None) -> dict[str, Any]:
    fields: dict[str, Any] = {"verdict": None}
    if verdict is not None:
        fields = verdict.model_dump(include={"reason", "by", "at"}) | {"verdict": verdict.verdict.plain_value}
    return {name: issue.value(name) for name in LISTED} | fields


def _open_in_editor(run: Run, issue: Issue) -> str:
    """Open a finding in the user's editor; return an error message, "" on success."""
    root = Path(os.fsdecode(run.root_raw))
    file = root if root.is_file() else root / os.fsdecode(from_shown(issue.candidate.file))
    try:
        if not stat.S_ISREG(file.stat().st_mode):
            return f"{plain(str(file))}: not a regular file"
        open_editor(editor_command(os.environ, file, issue.candidate.line))
    except OSError as error:
        return f"{plain(str(file))}: cannot be opened: {error.strerror}"
    except UsageError as problem:
        return str(problem)
    return ""


def _operation(change: str) -> Named:
    return Named(change, queue.current_user())


def _session_summary(run: Run, judgements: dict[str, Judgement], findings: int) -> str:
    counts = Counter(one.verdict for one in judgements.values())
    more = (TriageState.WONTFIX, TriageState.LATER)
    text = f"{counts[TriageState.TRUE]:,} judged true, {counts[TriageState.FALSE]:,} false"
    text += "".join(f", {counts[state]:,} {WORDS[state]}" for state in more if counts[state])
    left = findings - len(judgements)
    return text + (f"; {left:,} left, continue with: jarvis sec triage {run.id}" if left else "; none is left")


def _report_done(says: str) -> int:
    typer.echo(says, err=True)
    return exits.DONE
