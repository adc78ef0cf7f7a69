"""Add to the body of a report what a format shows in addition: code around findings, and translated texts."""

from typing import Any

from jarvis_workers.pipeline.stages import has_conversation_stage
from jarvis_workers.sec.report import QUOTING, WORDED
from jarvis_workers.sec.report_document import ReportBody
from jarvis_workers.sec.run_reports.excerpts import read_excerpts
from jarvis_workers.sec.stages.options import SecOptions
from jarvis_workers.sec.translations import report_in
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.store.values import Run


def enrich_body(blobs: Blobs, run: Run, body: ReportBody, form: str) -> ReportBody:
    """Return the body for the renderer of a format; code is read from the snapshot."""
    if form in QUOTING:
        shown = [*body.issues, *body.dismissed]
        body = body._replace(excerpts=read_excerpts(blobs, run.snapshot_id, shown))
    if form in WORDED:
        body = report_in(SecOptions.of(run).lang, body)
    return body


def language_facts(run: Run) -> dict[str, Any]:
    """Return the language entry of the `run` part of a report; empty for English, unless agents wrote in it."""
    lang = SecOptions.of(run).lang
    return {"lang": lang} if lang != "en" or has_conversation_stage(run.kind) else {}
