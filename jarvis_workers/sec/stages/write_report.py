"""Write the body of a run's report: everything except the `run` part.

Files that were not scanned are listed with the reason.
"""

from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING

from jarvis_workers.pipeline.single_job import single_job
from jarvis_workers.sec.report import every_issue, gather
from jarvis_workers.sec.report_document import Issue
from jarvis_workers.sec.stages.candidates import all_of, baseline_of, judged_of
from jarvis_workers.sec.stages.not_checked import SCANNING
from jarvis_workers.sec.stages.options import SecOptions
from jarvis_workers.sec.stages.report_body import ReportWork, encode_body, report_body
from jarvis_workers.sec.stages.reported_stages import REPORTED
from jarvis_workers.sec.stages.verdicts import canary_of, escalation_of, verdicts_of, with_verdicts, witnesses_of
from jarvis_workers.snapshots.resources import Resources
from jarvis_workers.store import jobs, stages
from jarvis_workers.store.values import Claimed, Commit, Run

if TYPE_CHECKING:
    from jarvis_workers.store.session import Session

REPORT = "report"
STAGES = frozenset({*SCANNING, *(one.stage for one in REPORTED)})


plan = single_job(REPORT, "control", "write the report")


def load(session: "Session", run: Run, _: Claimed | None = None) -> ReportWork:
    """Return the data for the report."""
    options = SecOptions.of(run)
    findings = gather(
        all_of(session, run),
        options.min_confidence,
        severities=options.rules.severity,
        baseline=baseline_of(session, run),
        judged=judged_of(session, run),
        verdicts=verdicts_of(session, run),
        witnesses=witnesses_of(session, run),
    )
    judged, listed = list(with_verdicts(session, run, chain(findings.issues, findings.dismissed))), len(findings.issues)
    findings.issues, findings.dismissed = judged[:listed], judged[listed:]
    theirs = {name: jobs.outcomes(session, run.id, name) for name in stages.names(session, run.id) if name in STAGES}
    return ReportWork(run, findings, theirs, canary_of(session, run), escalation_of(session, run))


def decide(work: ReportWork, resources: Resources) -> Commit:
    """Return the body as an artifact."""
    return Commit(artifacts=((REPORT, encode_body(report_body(work, resources.blobs))),))


def list_issues(session: "Session", run: Run) -> Iterator[Issue]:
    """Yield every issue of a run, including dismissed issues and those that a report does not list."""
    options = SecOptions.of(run)
    issues = every_issue(
        lambda: all_of(session, run),
        options.min_confidence,
        severities=options.rules.severity,
        baseline=baseline_of(session, run),
        judged=judged_of(session, run),
    )
    return with_verdicts(session, run, issues)
