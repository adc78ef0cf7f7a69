"""Triage all findings that match a filter with one command, and undo such a command."""

from collections.abc import Sequence

import typer

from jarvis_cli.kit import exits
from jarvis_cli.kit.run_outcome import counted
from jarvis_workers.errors import UsageError
from jarvis_workers.paths import plain
from jarvis_workers.sec.report.fired_rules import finding_name
from jarvis_workers.sec.report_document import Issue
from jarvis_workers.sec.triage import queue, records
from jarvis_workers.sec.triage.queue import WORDS, Filter, matching
from jarvis_workers.sec.triage.records import Named, stored_judgements
from jarvis_workers.sec.triage_states import TriageState
from jarvis_workers.store.engine import Store

UNDO = "undo with: jarvis sec triage --undo"
EXAMPLES_SHOWN = 3


def mark_all(
    store: Store,
    findings: Sequence[Issue],
    criteria: Filter,
    state: TriageState,
    reason: str,
    *,
    judged: bool,
    ask: bool,
) -> int:
    """Save a verdict on all matching findings; those that already have one are included only with `judged`.

    With `ask`, the user must confirm the number of findings. Raises UsageError without a filter, so that nobody judges
    all findings of a run by mistake.
    """
    if not criteria:
        raise UsageError(f"--mark {state} judges many findings: select them with --rule, --file or another filter")
    left = matching(findings, stored_judgements(store), criteria, judged=judged)
    if not left:
        typer.echo(f"no open finding matches {criteria}; include judged ones with --all", err=True)
        return exits.DONE
    judgements = [queue.judgement(issue, state, reason) for issue, _ in queue.one_each(left)]
    what = f"{counted(len(left), 'finding')} as {WORDS[state]}"
    if ask and not _confirmed(left, f"Mark {what}? [y/N] "):
        typer.echo("no finding was judged", err=True)
        return exits.DONE
    records.judge(store, judgements, Named(f"mark {what} ({criteria})", queue.current_user()))
    typer.echo(f"marked {what}; {UNDO}", err=True)
    return exits.DONE


def undo(store: Store) -> int:
    """Undo the user's last operation."""
    undone = records.undo(store, queue.current_user())
    if undone is None:
        raise UsageError("nothing to undo: you have not marked, forgotten or imported verdicts here")
    left = f"; {counted(undone.left, 'verdict')} changed since then and were not undone" if undone.left else ""
    typer.echo(f"undone: {undone.change}; {counted(undone.restored, 'verdict')} reverted{left}", err=True)
    return exits.DONE


def _confirmed(findings: Sequence[Issue], question: str) -> bool:
    for issue in findings[:EXAMPLES_SHOWN]:
        typer.echo(f"  {_line(issue)}", err=True)
    if len(findings) > EXAMPLES_SHOWN:
        typer.echo(f"  and {len(findings) - EXAMPLES_SHOWN:,} more", err=True)
    typer.echo(question, err=True, nl=False)
    try:
        return input().strip().lower() in ("y", "yes")
    except EOFError:
        return False


def _line(issue: Issue) -> str:
    return plain(f"{issue.candidate.file}:{issue.candidate.line}: {issue.severity}: {finding_name(issue)}")
