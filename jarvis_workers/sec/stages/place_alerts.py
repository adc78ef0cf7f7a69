"""Make candidates of the alerts of other analyzers: the step of stage `alerts`.

The command has read their reports, or stage `witness` has run them; the job finds the files and lines in the snapshot.
What has no place there is listed by file, with the reason and the number.
"""

import json
import posixpath
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

from jarvis_workers.paths import from_shown, listing, plain, shown
from jarvis_workers.pipeline.history import StageHistory, read_result
from jarvis_workers.pipeline.json_record import JsonRecord
from jarvis_workers.sec.alerts.alert import Alert, AlertIdentity, FlowStep
from jarvis_workers.sec.alerts.candidate_text import category_of, confidence_of, description_of, pattern_of, remedy_of
from jarvis_workers.sec.alerts.placement import LINES, TreePaths, Unplaced, line_of, shown_name
from jarvis_workers.sec.evidence import evidence
from jarvis_workers.sec.report.exclusions import WITH_ALERTS
from jarvis_workers.sec.scanner import source_text
from jarvis_workers.sec.stages.flow_hits import comments_in, line_starts
from jarvis_workers.sec.stages.flow_rules import USED
from jarvis_workers.sec.stages.options import SecOptions
from jarvis_workers.sec.stages.results import CandidateResult
from jarvis_workers.sec.stages.scan_files import language_for
from jarvis_workers.sec.suppressions import silence
from jarvis_workers.sec.trace import trail_of
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.snapshots.reader import Entry, open_snapshot
from jarvis_workers.snapshots.resources import Resources
from jarvis_workers.source.grammar_files import base_language
from jarvis_workers.source.languages import language_of
from jarvis_workers.store.values import Claimed, Commit, Meaning, NewJob, Run, Spot

if TYPE_CHECKING:
    from jarvis_workers.store.session import Session

STEP = "alerts"
# The blobs with all alerts, and with the places that were found for them.
ALERTS, PLACES = "alerts", "places"
# The stage that runs analyzers, each job of which leaves alerts in a blob of the same name.
WITNESS = "witness"
NOT_PLACED = "{number} of {tool} not placed: {reason}"
LINES_SHOWN = 20


@dataclass(frozen=True)
class AlertWork(JsonRecord):
    """The alerts in a blob, and the snapshot that they are about."""

    snapshot: str
    alerts: str


read_work = AlertWork.decode


def plan_on(run: Run, blobs: Blobs, earlier: StageHistory) -> Iterator[NewJob]:
    """Yield the job that places the alerts of reports and those of the analyzers that the run has run."""
    name = SecOptions.of(run).alerts
    results = [read_result(blobs, job.result).blobs for job in earlier.outcomes(WITNESS)]
    seen = [alert for one in results if ALERTS in one for alert in alerts_from(blobs.read(one[ALERTS]))]
    if seen or name is None:
        with open_snapshot(blobs, run.snapshot_id) as reader:
            files = {shown(entry.path) for entry in reader.files()}
        given = alerts_from(blobs.read(name)) if name is not None else []
        name = earlier.put(alerts_to_bytes([*given, *_scanned(seen, files)]))
    yield NewJob(STEP, "scan", "find the places of alerts", name, json.dumps({"alerts": name}))


def _scanned(alerts: Sequence[Alert], files: Collection[str]) -> list[Alert]:
    """Return the alerts of scanned files, each once: units share headers."""
    named = (one._replace(file=posixpath.normpath(one.file), times=1) for one in alerts)
    return sorted({one for one in named if one.file in files})


def load(_: "Session", run: Run, job: Claimed) -> AlertWork:
    """Return the alerts of the run."""
    return AlertWork(run.snapshot_id, json.loads(job.payload)["alerts"])


def decide(work: AlertWork, resources: Resources) -> Commit:
    """Return the candidates."""
    missing = _NotPlaced()
    by_file: defaultdict[bytes, list[tuple[int, Alert]]] = defaultdict(list)
    files: list[_FileRows] = []
    with open_snapshot(resources.blobs, work.snapshot) as reader:
        entries: Mapping[bytes, Entry] = {entry.path: entry for entry in reader.files()}
        paths = TreePaths(entries)
        for number, alert in enumerate(alerts_from(resources.blobs.read(work.alerts))):
            path = paths.find(alert.file)
            if not isinstance(path, Unplaced):
                by_file[path].append((number, alert))
            elif entries and (why := _out_of_scope(alert.file, reader.index.excluded)):
                missing.leave_out(alert, why)
            else:
                missing.add(alert, shown_name(alert.file), path)
        for path, alerts in sorted(by_file.items()):
            content = source_text(reader.read(entries[path]), language_for(entries[path]))
            files.append(_rows_of(path, content, alerts, paths, missing))
    places = [(one.numbers[at], shown(row[0].path), row[0].line) for one in files for at, row in enumerate(one.rows)]
    return Commit(
        files=sum(bool(one.rows) for one in files),
        results=tuple(_results([row for one in files for row in one.rows])),
        not_checked=tuple(missing.gaps()),
        remarks=(*(remark for one in files for remark in one.remarks), *missing.left_out()),
        blobs=((PLACES, resources.blobs.put(json.dumps(places).encode())), (ALERTS, work.alerts)),
    )


def _out_of_scope(name: str, excluded: Sequence[tuple[bytes, str]]) -> str | None:
    """Return why no scan of this tree has the file that a report names, None if one may."""
    path = from_shown(shown_name(name))
    if path and language_of(path) is None:
        return "not C, C++ or Rust"
    trees = ((tree, reason) for tree, reason in excluded if path.startswith(tree + b"/"))
    return next((f"below {shown(tree)}, {reason}" for tree, reason in trees), None)


class _NotPlaced:
    """The alerts that have no place, by file, analyzer and reason."""

    def __init__(self) -> None:
        self._numbers: Counter[tuple[str, str, str]] = Counter()
        self._lines: defaultdict[tuple[str, str, str], set[int]] = defaultdict(set)
        self._left_out: Counter[tuple[str, str, str]] = Counter()

    def add(self, alert: Alert, name: str, place: Unplaced) -> None:
        """Count an alert whose file, if it is in the tree, lacks the line."""
        key = (name or "(no file)", plain(alert.tool), place.reason)
        self._numbers[key] += alert.times
        if place.line:
            self._lines[key].add(place.line)

    def leave_out(self, alert: Alert, why: str) -> None:
        """Count an alert about a file that is no part of the scan."""
        self._left_out[shown_name(alert.file), plain(alert.tool), why] += alert.times

    def gaps(self) -> Iterator[tuple[bytes, str]]:
        for (name, tool, reason), number in sorted(self._numbers.items()):
            alerts = f"{number} alert" + ("s" if number > 1 else "")
            if lines := sorted(self._lines[name, tool, reason]):
                numbers = listing([str(line) for line in lines], LINES_SHOWN)
                reason = reason.replace(LINES, ("line " if len(lines) == 1 else "lines ") + numbers)
            yield from_shown(name), NOT_PLACED.format(number=alerts, tool=tool, reason=reason)

    def left_out(self) -> Iterator[tuple[bytes, int, str, str]]:
        for (name, tool, why), number in sorted(self._left_out.items()):
            yield from_shown(name), number, tool, WITH_ALERTS + why


def alerts_to_bytes(alerts: Sequence[Alert]) -> bytes:
    """Return alerts as the content of a blob."""
    return json.dumps(alerts).encode("utf-8", "surrogatepass")


def alerts_from(content: bytes) -> list[Alert]:
    """Return the alerts that `alerts_to_bytes` wrote."""
    rows = [Alert(*row) for row in json.loads(content)]
    return [
        row._replace(steps=tuple(FlowStep(*step) for step in row.steps), identity=_identity(row.identity))
        for row in rows
    ]


def _identity(row: Any) -> AlertIdentity | None:
    if row is None:
        return None
    uri, base, *pairs = row
    return AlertIdentity(uri, base, *(tuple((name, value) for name, value in some) for some in pairs))


def places_from(content: bytes) -> dict[int, tuple[str, int]]:
    """Return the (shown) file and the line of alerts by their number, as a job has written them."""
    return {number: (file, line) for number, file, line in json.loads(content)}


class _FileRows(NamedTuple):
    """The candidates of a file, the numbers of their alerts, and remarks on the comments that suppress some of them."""

    numbers: list[int]
    rows: list[tuple[Spot, Meaning]]
    remarks: list[tuple[bytes, int, str, str]]


def _rows_of(
    path: bytes, content: bytes, alerts: Sequence[tuple[int, Alert]], paths: TreePaths, missing: _NotPlaced
) -> _FileRows:
    lines = content.decode("utf-8", "replace").split("\n")
    text, starts = tuple(lines if lines[-1] else lines[:-1]), line_starts(content)
    rows: list[tuple[Spot, Meaning]] = []
    numbers: list[int] = []
    for number, alert in alerts:
        line = line_of(alert, text)
        if isinstance(line, Unplaced):
            missing.add(alert, shown(path), line)
        else:
            numbers.append(number)
            rows.append(_row(path, line, evidence(content, starts[line - 1]), alert, paths))
    words, used = silence([(spot.pattern, spot.line) for spot, _ in rows], list(comments_in(path, content)))
    result = [
        (spot._replace(suppressed=word if spot.suppressed is None else spot.suppressed), meaning)
        for (spot, meaning), word in zip(rows, words, strict=True)
    ]
    return _FileRows(numbers, result, sorted((path, one.line, one.text, USED) for one in used if one.ours))


def _row(path: bytes, line: int, code: str, alert: Alert, paths: TreePaths) -> tuple[Spot, Meaning]:
    steps = [(_place_of(step, paths), step.line, plain(step.text)) for step in alert.steps]
    pattern, language = pattern_of(alert), base_language(language_of(path) or "c/cpp")
    end = shown(path), line, plain(alert.text)
    trail = trail_of(steps if steps[-1:] == [end] else [*steps, end], shown(path))
    why = alert.suppressed and plain(alert.suppressed)
    spot = Spot(path, pattern, line, confidence_of(alert), code, alert.column or None, why, trail)
    return spot, Meaning(pattern, language, category_of(alert), alert.cwe, description_of(alert), remedy_of(alert))


def _place_of(step: FlowStep, paths: TreePaths) -> str:
    """Return the displayed path of the file of a step."""
    path = paths.find(step.file)
    return shown_name(step.file) if isinstance(path, Unplaced) else shown(path)


def _results(rows: Sequence[tuple[Spot, Meaning]]) -> Iterator[CandidateResult]:
    """Yield the candidates so that each has its own description, which otherwise belongs to the rule."""
    numbers: defaultdict[str, Iterator[int]] = defaultdict(count)
    rounds: defaultdict[int, list[tuple[Spot, Meaning]]] = defaultdict(list)
    for spot, meaning in rows:
        rounds[next(numbers[spot.pattern])].append((spot, meaning))
    for _, group in sorted(rounds.items()):
        yield CandidateResult(tuple(spot for spot, _ in group), tuple(meaning for _, meaning in group))
