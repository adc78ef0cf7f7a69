"""Write the body of a run's report: everything in it but the `run` part.

What was not scanned is in it by name, with the reason: nothing is dropped.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jarvis_workers.paths import shown
from jarvis_workers.sec.report import build, every_issue, gather
from jarvis_workers.sec.report.aside import begin_aside
from jarvis_workers.sec.report.body import Findings
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.snapshots.reader import open_snapshot
from jarvis_workers.steps.counted import all_of, judged_of, known_of, severities_of
from jarvis_workers.steps.flow_rules import flow_patterns, rules_blob
from jarvis_workers.steps.gaps import Jobs, what_is_missing
from jarvis_workers.steps.verdicts import canary_of, statuses_of, with_verdicts
from jarvis_workers.store import jobs, stages
from jarvis_workers.store.runs import Run
from jarvis_workers.store.values import Claimed, Commit, NewJob

if TYPE_CHECKING:
    from sqlmodel import Session

REPORT = "report"
STAGES = frozenset(Jobs._fields)
DISMISSED = "dismissed"
LISTS = ("issues", DISMISSED, "suppressed")


@dataclass(frozen=True)
class ReportWork:
    """What the store knows: what was found, and what became of each job."""

    run: Run
    findings: Findings
    jobs: Jobs
    canary: dict[str, Any] | None = None


def plan(run: Run, _: Blobs) -> Iterator[NewJob]:
    """Yield the one job of the stage."""
    yield NewJob(step=REPORT, queue="control", label="write the report", input_hash=REPORT)


def load(session: "Session", run: Run, _: Claimed | None = None) -> ReportWork:
    """Gather what the report is made of."""
    findings = gather(
        all_of(session, run),
        run.options["min_confidence"],
        severities=severities_of(run),
        known=known_of(session, run),
        judged=judged_of(session, run),
        statuses=statuses_of(session, run),
    )
    findings.issues = list(with_verdicts(session, run, findings.issues))
    findings.dismissed = list(with_verdicts(session, run, findings.dismissed))
    theirs = {name: jobs.outcomes(session, run.id, name) for name in stages.names(session, run.id) if name in STAGES}
    return ReportWork(run, findings, Jobs(**{"scan": []} | theirs), canary_of(session, run))


def decide(work: ReportWork, blobs: Blobs) -> Commit:
    """Return the body as an artifact."""
    body = report_body(work, blobs)
    # Issue by issue: one odd character would make four bytes of every other in a text of all.
    lists = [
        b'"%b":[%b]' % (kind.encode(), b",".join(map(_encoded, body.get(kind, ()))))
        for kind in LISTS
        if body.get(kind) or kind != DISMISSED
    ]
    content = b'{"summary":%b,%b}' % (_encoded(body["summary"]), b",".join(lists))
    return Commit(artifacts=((REPORT, content),))


def list_issues(session: "Session", run: Run) -> Iterator[dict[str, Any]]:
    """Yield every issue of a run, also those beyond what a report lists, and what is dismissed."""
    least, known, judged = run.options["min_confidence"], known_of(session, run), judged_of(session, run)
    issues = every_issue(
        lambda: begin_aside(known, judged).counted(all_of(session, run), least),
        least,
        severities=severities_of(run),
        judged=judged,
    )
    return with_verdicts(session, run, issues)


def report_body(work: ReportWork, blobs: Blobs) -> dict[str, Any]:
    """Return summary and issues, of a run that is done or of as much as there is."""
    reader = open_snapshot(blobs, work.run.snapshot_id)
    flow = bool(flow_patterns(blobs, rules_blob(work.run)))
    missing = what_is_missing(reader, blobs, work.jobs, flow=flow)
    return build(
        work.findings,
        scanned_files=sum(scan["files"] for scan in work.jobs.scan),
        not_checked=sorted(set(missing.not_checked)),
        left_out=reader.index.left_out,
        excluded=[(shown(path), reason) for path, reason in reader.index.excluded],
        remarks=missing.remarks,
        baseline=work.run.options.get("baseline"),
        canary=work.canary,
    )


def _encoded(part: dict[str, Any]) -> bytes:
    return json.dumps(part, ensure_ascii=False, separators=(",", ":")).encode()
