"""The page of a finding: code, trace, verdict, evidence, conversation, triage and triage history."""

from typing import Any

from flask import Blueprint, redirect, render_template, request, url_for
from werkzeug.wrappers import Response

from jarvis_workers.errors import UsageError
from jarvis_workers.sec.report.html import verdict_section
from jarvis_workers.sec.report.html.card import trace_and_code
from jarvis_workers.sec.report_document import Issue
from jarvis_workers.sec.rules import RULES_BY_PATTERN
from jarvis_workers.sec.run_reports.excerpts import read_excerpts
from jarvis_workers.sec.runs.scan_runs import ScanRun
from jarvis_workers.sec.triage import history, queue
from jarvis_workers.sec.triage.file import REASON_MAX
from jarvis_workers.sec.triage_states import TriageState
from jarvis_workers.web.context import RunMissing, context, current_identity, exact_scan, text_of
from jarvis_workers.web.triage import read_state, save_verdict, withdraw_verdict
from jarvis_workers.words import ENGLISH

pages = Blueprint("findings", __name__, url_prefix="/runs/<run_id>/findings/<finding_id>")

TWINS_MAX = 20


@pages.get("")
def show(run_id: str, finding_id: str) -> str:
    """Show a finding."""
    run = exact_scan(run_id)
    return render_template("finding.html", problem="", reason="", **_facts(run, finding_id))


@pages.post("/triage")
def triage(run_id: str, finding_id: str) -> Response | tuple[str, int]:
    """Save or withdraw a verdict; then show this finding or, on request, the next one without a verdict."""
    run = exact_scan(run_id)
    facts = _facts(run, finding_id)
    issue: Issue = facts["issue"]
    verdict, reason = request.form.get("verdict", ""), request.form.get("reason", "")
    try:
        if verdict == "withdraw":
            withdraw_verdict(context().store, issue, current_identity())
        else:
            save_verdict(context().store, issue, read_state(verdict), reason, current_identity())
    except UsageError as error:
        page = render_template("finding.html", problem=text_of(error), reason=reason[:REASON_MAX], **facts)
        return page, 400
    following = facts["following"]
    target = following if request.form.get("then") == "next" and following else issue
    return redirect(url_for("findings.show", run_id=run.id, finding_id=target.id), 303)


def find_issue(run: ScanRun, named: str) -> tuple[list[Issue], int]:
    """Return the findings of a scan, worst first, and the index of the requested finding. Raises RunMissing."""
    findings = queue.sheet_of(context().body(run)).findings
    try:
        return findings, findings.index(queue.find_finding(findings, named))
    except UsageError as error:
        raise RunMissing("no such finding in the report of this run") from error


def _facts(run: ScanRun, named: str) -> dict[str, Any]:
    world = context()
    findings, place = find_issue(run, named)
    issue = findings[place]
    excerpt = read_excerpts(world.blobs, run.snapshot_id, [issue]).get(issue.id)
    path, code = trace_and_code(issue, excerpt, ENGLISH)
    twins = [one.candidate.line for one in findings if one.fingerprint == issue.fingerprint and one.id != issue.id]
    record = history.record_of(world.store, issue.fingerprint)
    return {
        "run": run,
        "issue": issue,
        "rule": RULES_BY_PATTERN.get(issue.candidate.pattern),
        "twins": twins[:TWINS_MAX],
        "path": path,
        "code": code,
        "verdict": list(verdict_section.words(issue, ENGLISH)),
        "why": list(verdict_section.reason(issue, ENGLISH)),
        "quotes": list(verdict_section.evidence(issue.opinion.evidence, ENGLISH)),
        "scripts": list(verdict_section.scripts(issue.opinion.commands, ENGLISH)),
        "proof": list(verdict_section.proof(issue.proof, ENGLISH)),
        "conversation": history.conversation_of(world.store, run, issue.gid) if issue.verdict else None,
        "judgement": record.current,
        "past": record.past,
        "states": TriageState,
        "words": queue.WORDS,
        "reason_max": REASON_MAX,
        "position": (place + 1, len(findings)),
        "previous": findings[place - 1] if place else None,
        "following": findings[place + 1] if place + 1 < len(findings) else None,
    }
