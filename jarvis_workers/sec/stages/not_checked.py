"""Determine the files that a scan has not checked, without duplicates, from the outcomes of its jobs.

A file that was scanned but not analyzed by the flow rules is listed with that reason, once for each function if only
some were not analyzed to their end; a file that was not scanned is listed once, with the reason why.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from jarvis_workers.paths import listing, shown
from jarvis_workers.pipeline.history import done_ranges, range_of, read_result, unscanned
from jarvis_workers.sec.report.exclusions import WITH_ALERTS
from jarvis_workers.sec.stages.flow_rules import NOT_RUN, USED
from jarvis_workers.sec.stages.payloads import FlowPayload, ModelBlobs
from jarvis_workers.sec.stages.summaries import read_rows
from jarvis_workers.sec.suppressions import NO_RULE, NOTHING_FIRES
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.snapshots.reader import Reader
from jarvis_workers.store.values import StageJob

NOT_REACHED = "not reached before the run ended"
# A defect that a model has seen beside its candidates, and that no model is asked about.
UNASKED_STARTS = "not asked about line "
UNASKED = UNASKED_STARTS + "{line}: {text} ({reason})"
NAMES_SHOWN = 5
Gap = tuple[str, str]
Remarks = list[Sequence[Any]]
# The outcomes of jobs by stage, of the stages that a run has.
StageJobs = Mapping[str, Sequence[StageJob]]
SCANNING = ("scan", "summarize", "flow")


class NotCheckedFiles(NamedTuple):
    """The files that were not checked, with reasons, and the remarks on suppression comments.

    `left_out` counts the files that other analyzers report and that are no part of the scan, by reason.
    """

    not_checked: list[Gap]
    remarks: Remarks
    left_out: Mapping[str, int]


def what_is_missing(reader: Reader, blobs: Blobs, jobs: StageJobs, *, flow: bool) -> NotCheckedFiles:
    """Collect the gaps and remarks of the scan; `flow` is True if any flow rule is enabled."""
    scans, summaries, flows = (jobs.get(stage) for stage in SCANNING)
    gaps = [(shown(path), reason) for path, reason in reader.index.not_checked]
    stated = _read_gaps(blobs, jobs.get("alerts") or ())[1]
    placed = [one for one in stated if not one[3].startswith(WITH_ALERTS)]
    left_out = _with_alerts(one for one in stated if one[3].startswith(WITH_ALERTS))
    if scans is None:
        # Other analyzers have scanned.
        return NotCheckedFiles(gaps, _settled(placed, set()), left_out)
    result, remarks = _read_gaps(blobs, scans)
    gaps += [*result, *not_reached(reader, scans)]
    if not flow or summaries is None or flows is None:
        return NotCheckedFiles(gaps, _settled([*remarks, *placed], set()), left_out)
    unseen = stated_gaps(blobs, summaries)
    untraced, used = _read_gaps(blobs, flows)
    unseen += [(path, line) for path, reason in untraced for line in reason.split("\n")]
    unseen += [(name, NOT_RUN + why) for name, why in _not_summarized(reader, blobs, scans, summaries)]
    unseen += [(name, NOT_RUN + why) for name, why in _not_traced(blobs, summaries, flows)]
    remarks = _settled([*remarks, *used, *placed], {name for name, _ in unseen})
    return NotCheckedFiles([*gaps, *unseen], remarks, left_out)


def _with_alerts(remarks: Iterable[Sequence[Any]]) -> Mapping[str, int]:
    """Return the number of files by what is said of their alerts, with the number of these and the first names."""
    names: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    alerts: Counter[tuple[str, str]] = Counter()
    for name, number, tool, says in remarks:
        names[tool, says].append(name)
        alerts[tool, says] += number
    return {
        f"{WITH_ALERTS}{alerts[key]:,} of {key[0]}, {key[1].removeprefix(WITH_ALERTS)} ({listing(those, NAMES_SHOWN)})":
        len(those)
        for key, those in names.items()
    }  # fmt: skip


def stated_gaps(blobs: Blobs, jobs: Sequence[StageJob]) -> list[Gap]:
    """Return the gaps that the results of jobs state."""
    return _read_gaps(blobs, jobs)[0]


def _read_gaps(blobs: Blobs, jobs: Sequence[StageJob]) -> tuple[list[Gap], Remarks]:
    gaps: list[Gap] = []
    remarks: Remarks = []
    for job in jobs:
        result = read_result(blobs, job.result)
        gaps += [(path, reason) for path, reason in result.not_checked]
        remarks += result.remarks
    return gaps, remarks


def _settled(remarks: Remarks, unseen: Collection[str]) -> Remarks:
    """Drop the remark that nothing fires if something did on the line that the scan does not see, or should have run.

    That is a flow rule, or a finding of another analyzer, of whose rules the scan knows nothing.
    """
    used = {tuple(about) for *about, says in remarks if says == USED}
    return [
        [*about, says]
        for *about, says in remarks
        if says != USED
        and not (says == NOTHING_FIRES and (tuple(about) in used or about[0] in unseen))
        and not (says.startswith(NO_RULE) and tuple(about) in used)
    ]


def not_reached(reader: Reader, scans: Sequence[StageJob]) -> Iterator[Gap]:
    """Yield the files in the ranges of the manifest that no job has finished."""
    place = 0
    for scan in sorted(scans, key=range_of):
        offset, length = range_of(scan)
        yield from _files(reader, place, offset, NOT_REACHED)
        if scan.state != "done":
            yield from _files(reader, offset, offset + length, _why(scan))
        place = offset + length
    yield from _files(reader, place, reader.index.manifest_bytes, NOT_REACHED)


def _not_summarized(
    reader: Reader, blobs: Blobs, scans: Sequence[StageJob], summaries: Sequence[StageJob]
) -> Iterator[Gap]:
    """Yield the scanned files that have no function summary, unless they are listed for another reason."""
    placed = [(range_of(job), job) for job in summaries]
    for scan, start, length in done_ranges(scans):
        within = [(place, job) for place, job in placed if start <= place[0] < start + length]
        missing = [(place, _why(job)) for place, job in within if job.state != "done"]
        if not within:
            missing = [((start, length), NOT_REACHED)]
        skip = unscanned(blobs, scan) if missing else ()
        for (offset, size), reason in missing:
            yield from (gap for gap in _files(reader, offset, offset + size, reason) if gap[0] not in skip)


def _not_traced(blobs: Blobs, summaries: Sequence[StageJob], flows: Sequence[StageJob]) -> Iterator[Gap]:
    """Yield the files with a summary that no flow job has analyzed."""
    by_index: dict[str, list[tuple[FlowPayload, StageJob]]] = {}
    for job in flows:
        payload = FlowPayload.from_json(job.payload)
        by_index.setdefault(payload.index, []).append((payload, job))
    made = [ModelBlobs.of(read_result(blobs, job.result).blobs) for job in summaries]
    for index in dict.fromkeys(one.index for one in made if one):
        jobs = by_index.get(index, [])
        missing = [(payload.first, _why(job)) for payload, job in jobs if job.state != "done"]
        for first, reason in missing if jobs else [(0, NOT_REACHED)]:
            for row in read_rows(blobs, index)[first:]:
                yield shown(row.path), reason


def _why(job: StageJob) -> str:
    if job.state == "failed":
        return f"its batch failed: {job.reason}"
    return "cancelled" if job.state == "cancelled" else NOT_REACHED


def _files(reader: Reader, start: int, end: int, reason: str) -> Iterator[Gap]:
    if end > start:
        for entry in reader.entries(start, end - start):
            yield shown(entry.path), reason
