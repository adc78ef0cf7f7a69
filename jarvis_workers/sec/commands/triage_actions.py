"""Execute `jarvis sec triage`; each verdict is saved immediately."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import typer

from jarvis_cli.kit import exits
from jarvis_cli.kit.run_outcome import counted
from jarvis_workers.sec.commands import bulk_triage
from jarvis_workers.sec.commands.finding_card import listing
from jarvis_workers.sec.commands.triage_context import TriageContext, operation, report_done
from jarvis_workers.sec.report_document import Issue
from jarvis_workers.sec.triage import queue, records
from jarvis_workers.sec.triage.queue import OPEN, WORDS, Filter, matching
from jarvis_workers.sec.triage.records import stored_judgements
from jarvis_workers.sec.triage_record import Judgement
from jarvis_workers.sec.triage_states import TriageState

LISTED = ("id", "fingerprint", "status", "severity", "score", "file", "line", "pattern")


class Mark(NamedTuple):
    """A verdict on the finding with this id or fingerprint; for a bulk mark `named` is empty."""

    named: str
    state: TriageState
    reason: str


def mark(place: TriageContext, marks: Sequence[Mark]) -> int:
    """Save verdicts on findings given by name: all of them or none."""
    findings = place.sheet().findings
    judgements = [queue.judgement(queue.find_finding(findings, one.named), one.state, one.reason) for one in marks]
    what = f"{counted(len(judgements), 'finding')} judged"
    records.judge(place.store, judgements, operation(what))
    return report_done(f"{what}; {bulk_triage.UNDO}")


def mark_all(place: TriageContext, criteria: Filter, one: Mark, *, judged: bool, ask: bool) -> int:
    """Save a verdict on all findings that match a filter."""
    findings = place.listed()
    criteria = place.from_here(criteria)
    return bulk_triage.mark_all(place.store, findings, criteria, one.state, one.reason, judged=judged, ask=ask)


def undo(place: TriageContext) -> int:
    """Undo the user's last operation."""
    return bulk_triage.undo(place.store)


def forget(place: TriageContext, names: Sequence[str]) -> int:
    """Delete the verdicts on findings."""
    findings = place.sheet().findings
    what = f"{counted(len(names), 'verdict')} removed"
    records.forget(place.store, [queue.find_finding(findings, one).fingerprint for one in names], operation(what))
    return report_done(f"{what}; {bulk_triage.UNDO}")


def show(place: TriageContext, criteria: Filter, *, as_json: bool) -> int:
    """List the findings that match a filter."""
    judgements = stored_judgements(place.store)
    findings = matching(place.listed(), judgements, place.from_here(criteria), judged=True)
    if as_json:
        typer.echo(json.dumps([_row(issue, judgements.get(issue.fingerprint)) for issue in findings], indent=2))
    elif not findings:
        says = f"no finding matches {criteria}" if criteria else "the run has no findings"
        typer.echo(place.nothing_listed(says), err=True)
    else:
        typer.echo(listing(findings, judgements))
        typer.echo(_counts(findings, judgements), err=True)
    return exits.DONE


def _counts(findings: Sequence[Issue], judgements: Mapping[str, Judgement]) -> str:
    """Return a line with the numbers of findings and verdicts."""
    judged = (judgements.get(one.fingerprint) for one in findings)
    states = Counter(OPEN if verdict is None else WORDS[verdict.verdict] for verdict in judged)
    return (
        f"{counted(len(findings), 'finding')}: {', '.join(f'{number:,} {state}' for state, number in states.items())}"
    )


def _row(issue: Issue, verdict: Judgement | None) -> dict[str, Any]:
    fields: dict[str, Any] = {"verdict": None}
    if verdict is not None:
        fields = verdict.model_dump(include={"reason", "by", "at"}) | {"verdict": verdict.verdict.plain_value}
    return {name: issue.value(name) for name in LISTED} | fields
