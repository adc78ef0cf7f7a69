"""Save triage verdicts of web users, with the same rows, rules and history as in the terminal."""

from jarvis_workers.errors import UsageError
from jarvis_workers.paths import plain
from jarvis_workers.sec.report_document import Issue
from jarvis_workers.sec.triage import queue, records
from jarvis_workers.sec.triage.file import BY_MAX
from jarvis_workers.sec.triage.records import Named
from jarvis_workers.sec.triage_record import Judgement
from jarvis_workers.sec.triage_states import TriageState
from jarvis_workers.store.engine import Store
from jarvis_workers.web.access.identity import Identity


def read_state(text: str) -> TriageState:
    """Return the triage state with this name. Raises UsageError."""
    try:
        return TriageState(text)
    except ValueError as error:
        raise UsageError("choose a verdict: true, false, won't fix or later") from error


def save_verdict(store: Store, issue: Issue, state: TriageState, reason: str, identity: Identity) -> Judgement:
    """Save a verdict of a user. Raises UsageError for an invalid or missing reason."""
    made = queue.judgement(issue, state, reason, by=identity.name)
    records.judge(store, [made], _operation(f"mark {issue.id}={state.value}", identity))
    return made


def withdraw_verdict(store: Store, issue: Issue, identity: Identity) -> None:
    """Delete the verdict on a finding."""
    records.forget(store, [issue.fingerprint], _operation(f"withdraw {issue.id}", identity))


def _operation(change: str, identity: Identity) -> Named:
    return Named(f"web: {change}", plain(identity.name)[:BY_MAX])
