"""Build the body of a report from the results of stages, without a store, so that child processes can do it."""

import json
from base64 import b64encode
from dataclasses import dataclass
from typing import Any

from jarvis_workers.paths import shown
from jarvis_workers.sec.proof.proof import HARNESSES, Attempt, ProofSource
from jarvis_workers.sec.report.body import Findings, build
from jarvis_workers.sec.report_document import CanaryOutcome, EscalationCount, Issue, ReportBody
from jarvis_workers.sec.report_json import issue_to_json, summary_to_json
from jarvis_workers.sec.stages.flow_rules import flow_patterns
from jarvis_workers.sec.stages.not_checked import StageJobs, what_is_missing
from jarvis_workers.sec.stages.options import SecOptions
from jarvis_workers.sec.stages.reported_stages import stage_gaps, stage_values
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.snapshots.reader import open_snapshot
from jarvis_workers.store.values import Run

# Add the files of proofs to the findings of a report.

SOURCE_BYTES = 16_000


def with_sources(body: ReportBody, blobs: Blobs) -> ReportBody:
    """Return a body whose proofs show their files, long ones truncated."""
    if not any(issue.proof and issue.proof.blob for issue in body.issues):
        return body
    return body.map_findings(lambda issue: _with_sources(issue, blobs))


def _with_sources(issue: Issue, blobs: Blobs) -> Issue:
    if not issue.proof or not issue.proof.blob:
        return issue
    attempt = Attempt.from_json(json.loads(blobs.read(issue.proof.blob)))
    code = [_source(HARNESSES[attempt.language], attempt.code.encode())] if attempt.code else []
    files = [_source(file.name, file.content) for file in attempt.inputs]
    return issue._replace(proof=issue.proof._replace(sources=(*code, *files)))


def _source(name: str, content: bytes) -> ProofSource:
    shown, is_whole = content[:SOURCE_BYTES], len(content) <= SOURCE_BYTES
    try:
        text = shown.decode()
    except UnicodeDecodeError:
        return ProofSource(name, base64=b64encode(shown).decode(), is_whole=is_whole)
    if text.replace("\n", "").replace("\t", "").isprintable():
        return ProofSource(name, text, is_whole=is_whole)
    return ProofSource(name, base64=b64encode(shown).decode(), is_whole=is_whole)


@dataclass(frozen=True)
class ReportWork:
    """The data from the store: the findings, and the outcomes of jobs."""

    run: Run
    findings: Findings
    jobs: StageJobs
    canary: CanaryOutcome | None = None
    escalation: EscalationCount | None = None


def report_body(work: ReportWork, blobs: Blobs) -> ReportBody:
    """Return summary and issues of a finished run, or of the results so far."""
    reader = open_snapshot(blobs, work.run.snapshot_id)
    options = SecOptions.of(work.run)
    flow = bool(flow_patterns(blobs, options.rules.blob))
    missing = what_is_missing(reader, blobs, work.jobs, flow=flow)
    body = build(
        work.findings,
        # An import has scanned none: it counts those that others found something in.
        scanned_files=sum(scan.files for scan in work.jobs.get("scan", work.jobs.get("alerts", ()))),
        not_checked=[*missing.not_checked, *stage_gaps(reader, blobs, work.jobs)],
        left_out={**reader.index.left_out, **missing.left_out},
        excluded=[(shown(path), reason) for path, reason in reader.index.excluded],
        remarks=missing.remarks,
        baseline=options.baseline,
        canary=work.canary,
    )
    summary = body.summary._replace(escalation=work.escalation, **stage_values(blobs, work.jobs))
    return with_sources(body._replace(summary=summary), blobs)


def encode_body(body: ReportBody) -> bytes:
    """Return a body as JSON; dismissed issues are included only if there are any."""
    # Issues are encoded one by one: in a single string, one wide character would quadruple the memory of all text.
    lists = {
        "issues": body.issues,
        **({"dismissed": body.dismissed} if body.dismissed else {}),
        "suppressed": body.suppressed,
    }
    written = [
        b'"%b":[%b]' % (name.encode(), b",".join(map(_encoded, map(issue_to_json, candidate))))
        for name, candidate in lists.items()
    ]
    return b'{"summary":%b,%b}' % (_encoded(summary_to_json(body.summary)), b",".join(written))


def _encoded(part: dict[str, Any]) -> bytes:
    return json.dumps(part, ensure_ascii=False, separators=(",", ":")).encode()
