"""Add the files of proofs to the findings of a report."""

import json
from base64 import b64encode

from jarvis_workers.sec.proof.proof import HARNESSES, Attempt, ProofSource
from jarvis_workers.sec.report_document import Issue, ReportBody
from jarvis_workers.snapshots.blobs import Blobs

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
