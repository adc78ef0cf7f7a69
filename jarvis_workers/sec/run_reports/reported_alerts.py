"""The alerts of other analyzers in a run, each with the finding that came of it."""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from jarvis_workers.pipeline.history import read_result
from jarvis_workers.sec.alerts.alert import Alert
from jarvis_workers.sec.alerts.candidate_text import description_of, pattern_of
from jarvis_workers.sec.finding import Candidate
from jarvis_workers.sec.report_document import ReportedAlert
from jarvis_workers.sec.stages.place_alerts import ALERTS, PLACES, STEP, alerts_from, places_from
from jarvis_workers.sec.store.candidates import foreign_places
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.store import jobs
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Run

Key = tuple[Any, ...]


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
