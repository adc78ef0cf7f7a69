"""Questions about a finding of an earlier run, and objections to it, as runs over the same snapshot."""

from secrets import token_hex

from jarvis_workers.agents.tools.tool import Language
from jarvis_workers.errors import UsageError
from jarvis_workers.runs.budgets import budget_of
from jarvis_workers.runs.conversation_limits import agent_limits_of
from jarvis_workers.runs.models import model_name
from jarvis_workers.runs.request import FollowUpRequest
from jarvis_workers.runs.runs import is_local
from jarvis_workers.runs.scan_request import options_of
from jarvis_workers.sec.assessment import TEXTS
from jarvis_workers.sec.finding import Candidate
from jarvis_workers.sec.report_document import Issue
from jarvis_workers.sec.runs.security_notes import read_notes
from jarvis_workers.sec.stages.discussion_options import DiscussionOptions
from jarvis_workers.sec.trace import trail_of
from jarvis_workers.settings import Settings
from jarvis_workers.store.values import Run

TEXT_MAX = 4_000
VERDICT_FIELDS = ("status", "reason", *TEXTS)


def discussion_request(
    settings: Settings, kind: str, found: tuple[Run, Issue], text: str, group: str | None, language: Language
) -> FollowUpRequest:
    """Return the request of a run about a finding, whose executor is that of the settings. Raises UsageError."""
    run, issue = found
    if settings.place == "cluster" and is_local(run):
        raise UsageError(f"run {run.id} is local, so that workers cannot read its sources; add --where local")
    words = text.strip()
    if not words:
        raise UsageError("the text is empty")
    if len(words) > TEXT_MAX:
        raise UsageError(f"the text has {len(words):,} characters; limit {TEXT_MAX:,}")
    options = options_of(
        settings,
        DiscussionOptions,
        model_group=model_name(settings, group),
        agent_limits=agent_limits_of(settings),
        finding=issue.id,
        candidate=_candidate(issue),
        verification=issue.verification or issue.candidate.description,
        verdict=_verdict(issue),
        text=words,
        notes=read_notes(settings),
        lang=language,
    )
    budget = budget_of(settings, options.model_group)
    return FollowUpRequest(token_hex(4), kind, "", options, budget)


def _candidate(issue: Issue) -> Candidate:
    return issue.candidate._replace(suppressed=None, trail=trail_of(issue.path, issue.candidate.file))


def _verdict(issue: Issue) -> str:
    if not issue.verdict:
        return ""
    verdict = issue.verdict._asdict() | {"status": issue.status}
    return "\n".join(f"{name}: {value}" for name in VERDICT_FIELDS if (value := verdict[name]))
