"""Make candidates of the alerts of other analyzers: the step of stage `alerts`.

The command has read their reports; the job finds the files and lines in the snapshot. What has no place there is listed
by file, with the reason and the number.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING

from jarvis_workers.paths import from_shown, plain, shown
from jarvis_workers.pipeline.json_record import JsonRecord
from jarvis_workers.pipeline.single_job import single_job
from jarvis_workers.sec.alerts.alert import Alert, FlowStep
from jarvis_workers.sec.alerts.candidate_text import category_of, confidence_of, description_of, pattern_of, remedy_of
from jarvis_workers.sec.alerts.placement import TreePaths, Unplaced, line_of, parts_of
from jarvis_workers.sec.evidence import evidence
from jarvis_workers.sec.stages.options import SecOptions
from jarvis_workers.sec.stages.results import CandidateResult
from jarvis_workers.sec.trace import trail_of
from jarvis_workers.snapshots.reader import Entry, Reader, open_snapshot
from jarvis_workers.snapshots.resources import Resources
from jarvis_workers.source.grammar_files import base_language
from jarvis_workers.source.languages import language_of
from jarvis_workers.store.values import Claimed, Commit, Meaning, Run, Spot

if TYPE_CHECKING:
    from jarvis_workers.store.session import Session

STEP = "alerts"
NOT_PLACED = "{number} of {tool} not placed: {reason}"

plan = single_job(STEP, "scan", "find the places of alerts")


@dataclass(frozen=True)
class AlertWork(JsonRecord):
    """The alerts in a blob, and the snapshot that they are about."""

    snapshot: str
    alerts: str


read_work = AlertWork.decode


def load(_: "Session", run: Run, __: Claimed) -> AlertWork:
    """Return the alerts of the run."""
    return AlertWork(run.snapshot_id, SecOptions.of(run).alerts or "")


def decide(work: AlertWork, resources: Resources) -> Commit:
    """Return the candidates."""
    alerts = alerts_from(resources.blobs.read(work.alerts))
    with open_snapshot(resources.blobs, work.snapshot) as reader:
        places = _SnapshotPlaces(reader)
        placed = [(alert, places.of(alert)) for alert in alerts]
        found = [(alert, place) for alert, place in placed if not isinstance(place, Unplaced)]
        rows = [_row(places, alert, *place) for alert, place in found]
    missing = Counter((alert.file, alert.tool, place.reason) for alert, place in placed if isinstance(place, Unplaced))
    files = len({spot.path for spot, _ in rows})
    return Commit(files=files, results=tuple(_results(rows)), not_checked=tuple(_not_placed(missing)))


def alerts_to_bytes(alerts: Sequence[Alert]) -> bytes:
    """Return alerts as the content of a blob."""
    return json.dumps(alerts).encode("utf-8", "surrogatepass")


def alerts_from(content: bytes) -> list[Alert]:
    """Return the alerts that `alerts_to_bytes` wrote."""
    rows = [Alert(*row) for row in json.loads(content)]
    return [row._replace(steps=tuple(FlowStep(*step) for step in row.steps)) for row in rows]


class _SnapshotPlaces:
    """The files of a snapshot, read when an alert is about one of them."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._entries: Mapping[bytes, Entry] = {entry.path: entry for entry in reader.files()}
        self._names = TreePaths(self._entries)
        self._contents: dict[bytes, bytes] = {}

    def of(self, alert: Alert) -> tuple[bytes, int] | Unplaced:
        path = self._names.find(alert.file)
        if isinstance(path, Unplaced):
            return path
        lines = self.content(path).decode("utf-8", "replace").splitlines()
        line = line_of(alert, lines)
        return line if isinstance(line, Unplaced) else (path, line)

    def content(self, path: bytes) -> bytes:
        if path not in self._contents:
            # The alerts of a report are most often sorted by file.
            self._contents = {path: self._reader.read(self._entries[path])}
        return self._contents[path]

    def name_of(self, step: FlowStep) -> str:
        """Return the displayed path of the file of a step."""
        path = self._names.find(step.file)
        return plain("/".join(parts_of(step.file))) if isinstance(path, Unplaced) else shown(path)


def _row(places: _SnapshotPlaces, alert: Alert, path: bytes, line: int) -> tuple[Spot, Meaning]:
    content = places.content(path)
    starts = content.split(b"\n")[: line - 1]
    code = evidence(content, sum(len(one) + 1 for one in starts))
    steps = [(places.name_of(step), step.line, step.text) for step in alert.steps]
    pattern, language = pattern_of(alert), base_language(language_of(path) or "c/cpp")
    spot = Spot(
        path,
        pattern,
        line,
        confidence_of(alert),
        code,
        alert.column or None,
        alert.suppressed and plain(alert.suppressed),
        trail_of([*steps, (shown(path), line, plain(alert.text))], shown(path)),
    )
    return spot, Meaning(pattern, language, category_of(alert), alert.cwe, description_of(alert), remedy_of(alert))


def _results(rows: Sequence[tuple[Spot, Meaning]]) -> Iterator[CandidateResult]:
    """Yield the candidates so that each has its own description, which otherwise belongs to the rule."""
    numbers: defaultdict[str, Iterator[int]] = defaultdict(count)
    rounds: defaultdict[int, list[tuple[Spot, Meaning]]] = defaultdict(list)
    for spot, meaning in rows:
        rounds[next(numbers[spot.pattern])].append((spot, meaning))
    for _, group in sorted(rounds.items()):
        yield CandidateResult(tuple(spot for spot, _ in group), tuple(meaning for _, meaning in group))


def _not_placed(missing: Mapping[tuple[str, str, str], int]) -> Iterator[tuple[bytes, str]]:
    for (file, tool, reason), number in sorted(missing.items()):
        name = plain("/".join(parts_of(file))) or "(no file)"
        alerts = f"{number} alert" + ("s" if number > 1 else "")
        yield from_shown(name), NOT_PLACED.format(number=alerts, tool=plain(tool), reason=reason)
