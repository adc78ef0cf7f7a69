"""Go through findings at a terminal, key by key; each verdict is saved immediately."""

import os
import stat
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import typer

from jarvis_cli.kit.keys import read_key, read_line
from jarvis_workers.errors import UsageError
from jarvis_workers.paths import from_shown, plain
from jarvis_workers.sec.commands.finding_card import card
from jarvis_workers.sec.commands.triage_context import TriageContext, report_done
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
from jarvis_workers.sec.triage import queue, records
from jarvis_workers.sec.triage.queue import WORDS, Excerpts, Filter, matching
from jarvis_workers.sec.triage.records import stored_judgements
from jarvis_workers.sec.triage_record import Judgement
from jarvis_workers.sec.triage_states import TriageState
from jarvis_workers.store.values import Run
from jarvis_workers.toolchain.editors import editor_command, open_editor


def run_session(place: TriageContext, criteria: Filter, *, everything: bool) -> int:
    """Start a session over the findings that match a filter, without judged ones unless `everything` is set."""
    judgements = stored_judgements(place.store)
    open_ones = list(queue.one_each(matching(place.listed(), judgements, place.from_here(criteria), judged=everything)))
    if not open_ones:
        matched = f" that matches {criteria}" if criteria else ""
        says = f"no findings are left to judge in run {place.run.id}{matched}; to see judged ones: --all"
        return report_done(place.nothing_listed(says))
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
    return report_done(_session_summary(place.run, session_judgements, len(findings)))


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


def _session_summary(run: Run, judgements: dict[str, Judgement], findings: int) -> str:
    counts = Counter(one.verdict for one in judgements.values())
    more = (TriageState.WONTFIX, TriageState.LATER)
    text = f"{counts[TriageState.TRUE]:,} judged true, {counts[TriageState.FALSE]:,} false"
    text += "".join(f", {counts[state]:,} {WORDS[state]}" for state in more if counts[state])
    left = findings - len(judgements)
    return text + (f"; {left:,} left, continue with: jarvis sec triage {run.id}" if left else "; none is left")
