"""The JSON API: the same data and actions as in the pages, with tokens instead of sessions."""

import inspect
from http import HTTPStatus
from typing import Any

from flask import Response, current_app, jsonify, request
from flask_openapi3.blueprint import APIBlueprint
from pydantic import BaseModel

from jarvis_workers.runs import run_pages, runs
from jarvis_workers.sec.report_document import Issue
from jarvis_workers.sec.report_json import issue_to_json, summary_to_json
from jarvis_workers.sec.run_reports.diff import difference
from jarvis_workers.sec.run_reports.excerpts import read_excerpts
from jarvis_workers.sec.run_reports.gate import evaluate_gate
from jarvis_workers.sec.run_reports.scan_series import newest_comparable, scope_of
from jarvis_workers.sec.runs.scan_runs import ScanRun, has_findings, is_complete, scan_of
from jarvis_workers.sec.triage import history
from jarvis_workers.sec.triage.records import stored_judgements
from jarvis_workers.sec.triage_record import Judgement
from jarvis_workers.store.values import Run
from jarvis_workers.web.api import models
from jarvis_workers.web.context import (
    LAST,
    ListRow,
    RunMissing,
    context,
    current_identity,
    exact_run,
    exact_scan,
    run_rows,
)
from jarvis_workers.web.finding_list import choose_findings
from jarvis_workers.web.pages.findings import find_issue
from jarvis_workers.web.pages.run_actions import ACTIONS
from jarvis_workers.web.pages.trend import series_in
from jarvis_workers.web.queries import DiffQuery, FindingQuery, GateQuery, RunQuery, TrendQuery, check_names
from jarvis_workers.web.triage import read_state, save_verdict, withdraw_verdict

SECURITY: dict[str, Any] = {"token": {"type": "http", "scheme": "bearer"}}
ERRORS: dict[str | int | HTTPStatus, type[BaseModel] | dict[Any, Any] | None] = {
    401: models.ApiError,
    403: models.ApiError,
    404: models.ApiError,
}
LISTED_MAX = 100

routes = APIBlueprint("api", __name__, url_prefix="/api/v1", abp_security=[{"token": []}], abp_responses=ERRORS)


@routes.before_request
def check_parameters() -> None:
    """Refuse parameters that the endpoint does not have: a misspelt one would have no effect."""
    view = current_app.view_functions.get(request.endpoint or "")
    check_names(getattr(inspect.unwrap(view), "__annotations__", {}).get("query") if view else None)


@routes.get("/runs", responses={200: models.RunList})
def list_runs(query: RunQuery) -> Response:
    """List runs, newest first."""
    world = context()
    page = run_pages.page_of_runs(world.store, query.chosen(), query.page, query.size)
    rows = [_run(row) for row in run_rows(world, page.runs)]
    return _json(models.RunList(total=page.total, page=query.page, runs=rows))


@routes.get("/runs/<run_id>", responses={200: models.RunDetail})
def show_run(path: models.RunPath) -> Response:
    """Return a run with its stages and the summary of its report."""
    world, run = context(), exact_run(path.run_id)
    stages = [models.StageOut.model_validate(stage) for stage in runs.stages_of(world.store, run)]
    summary = summary_to_json(world.body(scan_of(run)).summary) if has_findings(run.kind) else None
    return _json(models.RunDetail(**_run_of(run).model_dump(), stages=stages, summary=summary))


@routes.post("/runs/<run_id>/<action>", responses={200: models.RunOut})
def act(path: models.ActionPath) -> Response:
    """Cancel, resume or retry a run."""
    run = exact_run(path.run_id)
    ACTIONS[path.action](run)
    return _json(_run_of(exact_run(run.id)))


@routes.get("/runs/<run_id>/findings", responses={200: models.FindingList})
def list_findings(path: models.RunPath, query: FindingQuery) -> Response:
    """List the findings of a scan, worst first; `complete` is false if the scan may lack findings."""
    world, run = context(), exact_scan(path.run_id)
    judged, body = stored_judgements(world.store), world.body(run)
    findings = choose_findings(body, query, judged)
    rows = [_finding(issue, judged.get(issue.fingerprint)) for issue in findings.findings]
    return _json(
        models.FindingList(
            run=run.id,
            state=run.state,
            complete=is_complete(run, body.summary),
            not_checked=body.summary.files_not_checked,
            total=findings.total,
            page=query.page,
            findings=rows,
        )
    )


@routes.get("/runs/<run_id>/findings/<finding_id>", responses={200: models.FindingDetail})
def show_finding(path: models.FindingPath) -> Response:
    """Return a finding with the code around it."""
    world, run = context(), exact_scan(path.run_id)
    issue = _issue(run, path.finding_id)
    excerpt = read_excerpts(world.blobs, run.snapshot_id, [issue]).get(issue.id)
    pieces = [] if excerpt is None else [excerpt._replace(file=issue.candidate.file, more=()), *excerpt.more]
    code = [{"file": piece.file, "first": piece.first, "lines": list(piece.lines)} for piece in pieces]
    judgement = history.record_of(world.store, issue.fingerprint).current
    talk = history.conversation_of(world.store, run, issue.gid) if issue.verdict else None
    return _json(
        models.FindingDetail(finding=issue_to_json(issue), triage=_triage(judgement), code=code, conversation=talk)
    )


@routes.put("/runs/<run_id>/findings/<finding_id>/triage", responses={200: models.TriageOut})
def triage(path: models.FindingPath, body: models.TriageIn) -> Response:
    """Give a triage verdict on a finding; it is valid for all runs."""
    world, run = context(), exact_scan(path.run_id)
    issue = _issue(run, path.finding_id)
    save_verdict(world.store, issue, read_state(body.verdict), body.reason, current_identity())
    record = _triage(history.record_of(world.store, issue.fingerprint).current)
    return _json(record) if record else jsonify(None)


@routes.delete("/runs/<run_id>/findings/<finding_id>/triage", responses={204: None})
def withdraw(path: models.FindingPath) -> Response:
    """Withdraw the triage verdict on a finding."""
    withdraw_verdict(context().store, _issue(exact_scan(path.run_id), path.finding_id), current_identity())
    return Response(status=204)


@routes.get("/runs/<run_id>/gate", responses={200: models.GateOut})
def gate(path: models.RunPath, query: GateQuery) -> Response:
    """Evaluate a gate, with the rules of `jarvis sec --fail-on` or, with a baseline, `jarvis runs diff --fail-on`."""
    world, run = context(), exact_scan(path.run_id)
    result = evaluate_gate(
        world.store, world.blobs, run, query.fail_on, query.baseline or None, read=world.reports.read
    )
    return _json(
        models.GateOut(
            run=run.id,
            outcome=result.outcome,
            reason=result.reason,
            number=result.number,
            baseline=result.baseline.id if result.baseline else None,
            findings=[_finding(issue) for issue in result.findings[:LISTED_MAX]],
        )
    )


@routes.get("/diff", responses={200: models.DiffOut})
def compare(query: DiffQuery) -> Response:
    """Compare two scans; without `before`, compare with the previous complete scan of the same source and scope."""
    world, after = context(), exact_scan(query.after or LAST)
    before = exact_scan(query.before) if query.before else newest_comparable(world.store, after)
    if before is None:
        raise RunMissing(f"there is no complete scan of the same source and scope before {after.id}")
    sides = difference(world.store, world.blobs, before, after, world.reports.read)
    result, start = sides.difference, (query.page - 1) * query.size

    def part(issues: list[Issue]) -> list[models.FindingOut]:
        return [_finding(issue) for issue in issues[start : start + query.size]]

    return _json(
        models.DiffOut(
            different_scopes=list(sides.scopes),
            before=before.id,
            after=after.id,
            counts=result.counts,
            notes=list(sides.notes),
            new=part(result.new),
            changed=part([one.issue for one in result.changed]),
            fixed=part(result.fixed),
            not_checked=part([one.issue for one in result.not_checked]),
        )
    )


@routes.get("/trend", responses={200: models.TrendOut})
def trend(query: TrendQuery) -> Response:
    """Return the totals of the newest scans of a source or project, oldest first.

    Only scans of equal scope are in one trend: that of the newest scan, or of `scope`; `scopes` lists all.
    """
    chosen, series = series_in(query)
    runs = run_rows(context(), chosen.scans if chosen else [])
    scopes = [models.ScopeOut(id=one.scope.id, text=str(one.scope), runs=len(one.scans)) for one in series]
    return _json(models.TrendOut(scope=chosen and chosen.scope.id, scopes=scopes, runs=[_run(row) for row in runs]))


def _json(value: BaseModel) -> Response:
    return Response(value.model_dump_json(), mimetype="application/json")


def _run_of(run: Run) -> models.RunOut:
    return _run(run_rows(context(), [run])[0])


def _run(row: ListRow) -> models.RunOut:
    run, totals = row.run, row.totals
    return models.RunOut(
        id=run.id,
        kind=run.kind,
        state=row.state,
        reason=run.reason,
        root=run.root,
        project=row.project,
        name=row.name,
        labels=dict(row.labels),
        created_at=run.created_at,
        started_at=run.started_at,
        ended_at=run.ended_at,
        percent=row.percent,
        findings=dict(totals.by_severity) if totals else None,
        not_checked=totals.not_checked if totals else None,
        scope=str(scope_of(scan_of(run))) if has_findings(run.kind) else None,
    )


def _issue(run: ScanRun, named: str) -> Issue:
    findings, place = find_issue(run, named)
    return findings[place]


def _finding(issue: Issue, judgement: Judgement | None = None) -> models.FindingOut:
    names = [name for name in models.FindingOut.model_fields if name != "triage"]
    return models.FindingOut(**{name: issue.value(name) for name in names}, triage=_triage(judgement))


def _triage(judgement: Judgement | None) -> models.TriageOut | None:
    return (
        None
        if judgement is None
        else models.TriageOut(verdict=judgement.verdict, reason=judgement.reason, by=judgement.by, at=judgement.at)
    )
