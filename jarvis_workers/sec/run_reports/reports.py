"""Reports of a run: the body from the store, the `run` part from the rows, rendered in a format."""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from jarvis_workers.paths import plain
from jarvis_workers.pipeline.history import read_result
from jarvis_workers.runs.run_part import run_part
from jarvis_workers.sec.alerts.alert import Alert
from jarvis_workers.sec.alerts.candidate_text import description_of, pattern_of
from jarvis_workers.sec.finding import Candidate
from jarvis_workers.sec.report import FORMATS, PATCHED, WITH_TOOLS
from jarvis_workers.sec.report_document import WHOLE_TREE, ReportBody, ReportedAlert, ReportGap
from jarvis_workers.sec.report_json import body_from_json
from jarvis_workers.sec.run_reports.enrichment import enrich_body, language_facts
from jarvis_workers.sec.runs.scan_runs import REPORTED, ScanRun
from jarvis_workers.sec.stages.options import SecOptions
from jarvis_workers.sec.stages.place_alerts import ALERTS, PLACES, STEP, alerts_from, places_from
from jarvis_workers.sec.stages.report_body import report_body
from jarvis_workers.sec.stages.scan_files import merge
from jarvis_workers.sec.stages.verdicts import can_be_fixed
from jarvis_workers.sec.stages.write_report import REPORT, load
from jarvis_workers.sec.store.candidates import foreign_places
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.store import artifacts, jobs, model_usage
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Run

Key = tuple[Any, ...]


def read_body(store: Store, blobs: Blobs, run: ScanRun) -> ReportBody:
    """Return summary and issues: as written by the report stage or, before that, the results so far.

    If the scan is not done, something is listed as not checked, even if every file was read.
    """
    with store.read() as session:
        blob = artifacts.find(session, run.id, REPORT) if run.state in REPORTED else None
        work = None if blob else load(session, run)
    body = report_body(work, blobs) if work else body_from_json(json.loads(blobs.read(blob or "")))
    return _with_gap(run, body)


def _with_gap(run: ScanRun, body: ReportBody) -> ReportBody:
    summary = body.summary
    if run.state == "done" or summary.not_checked or (run.state in REPORTED and body.issues):
        return body
    why = f" ({plain(run.reason)})" if run.reason else ""
    gap = ReportGap(WHOLE_TREE, f"the scan is {run.state}{why}: findings may be missing")
    return body._replace(summary=summary._replace(not_checked=(gap,)))


def render(store: Store, blobs: Blobs, run: ScanRun, form: str) -> str:
    """Return the report of a run in a format of `FORMATS`."""
    return "".join(compose(store, blobs, run, read_body(store, blobs, run), form))


def compose(store: Store, blobs: Blobs, run: Run, body: ReportBody, form: str) -> Iterator[str]:
    """Yield the pieces of a report with the given body, with code around its findings if the format shows any."""
    return FORMATS[form](*prepare(store, blobs, run, body, form))


def prepare(store: Store, blobs: Blobs, run: Run, body: ReportBody, form: str) -> tuple[ReportBody, dict[str, Any]]:
    """Return the body and the `run` part for the renderer of a format."""
    body = enrich_body(blobs, run, body, form)
    if form in PATCHED and can_be_fixed(run):
        from jarvis_workers.sec.fix_runs.report_patches import read_patches  # noqa: PLC0415  (slow to import)

        body = body._replace(patches=read_patches(store, blobs, run))
    if form in WITH_TOOLS and SecOptions.of(run).has_alerts:
        body = body._replace(alerts=read_reported_alerts(store, blobs, run))
    profile = {"profile": read_profile(store, blobs, run)} if has_profile(run) else {}
    return body, _with_calls(store, run, run_part(store, run)) | language_facts(run) | profile


def read_reported_alerts(store: Store, blobs: Blobs, run: Run) -> list[ReportedAlert]:
    """Return all alerts of a run, in the order of their reports; empty before they are placed."""
    with store.read() as session:
        results = [read_result(blobs, job.result).blobs for job in jobs.outcomes(session, run.id, STEP)]
        findings = foreign_places(session, run.id)
    written = next((result for result in results if PLACES in result), None)
    if written is None:
        return []
    by_key = defaultdict[Key, list[tuple[bool, int]]](list)
    for candidate, gid, is_merged in findings:
        if gid is not None:
            by_key[_key_of(candidate)].append((is_merged, gid))
    for those in by_key.values():
        those.sort(reverse=True)
    places, alerts = places_from(blobs.read(written[PLACES])), alerts_from(blobs.read(written[ALERTS]))
    return [_reported(alert, places.get(number), by_key) for number, alert in enumerate(alerts)]


def _reported(
    alert: Alert, place: tuple[str, int] | None, by_key: Mapping[Key, list[tuple[bool, int]]]
) -> ReportedAlert:
    """Return an alert with the next finding of its key, which is removed: the last is that which is not merged."""
    if place is None:
        return ReportedAlert(alert)
    those = by_key.get((*place, pattern_of(alert), alert.column or None, alert.cwe, description_of(alert)))
    is_merged, gid = those.pop() if those else (False, None)
    return ReportedAlert(alert, *place, gid, is_merged)


def _key_of(one: Candidate) -> Key:
    """Return what tells the candidates of alerts apart."""
    return one.file, one.line, one.pattern, one.column, one.cwe, one.description


def has_profile(run: Run) -> bool:
    return SecOptions.of(run).profile


def read_profile(store: Store, blobs: Blobs, run: Run) -> dict[str, Any]:
    """Return the times of the slowest rules and files of a run with profiling."""
    with store.read() as session:
        scans = jobs.outcomes(session, run.id, "scan")
    profiles = [read_result(blobs, scan.result).profile for scan in scans]
    return merge(profile for profile in profiles if profile)


def _with_calls(store: Store, run: Run, part: dict[str, Any]) -> dict[str, Any]:
    """Add the cost by stage and the latencies to the model entry, if there is one."""
    if not part["model"]:
        return part
    with store.read() as session:
        usage = {"by_stage": model_usage.by_stage(session, run.id), "latency": model_usage.latency(session, run.id)}
    return part | {"model": part["model"] | usage}
