"""What stages add to a report: a row for each, over which its body loops.

How the value of a stage is shown is a row of `sec/report/stage_parts.py`, which is pure.  This module avoids slow
imports, since reports use it without the engines of the steps.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from jarvis_workers.sec.report_document import WHOLE_TREE, DiscoveryOutcome
from jarvis_workers.sec.stages.chosen_functions import unsearched
from jarvis_workers.sec.stages.fuzz_record import fuzzing_outcome
from jarvis_workers.sec.stages.not_checked import NOT_REACHED, UNASKED_STARTS, Gap, StageJobs, stated_gaps
from jarvis_workers.sec.stages.payloads import DiscoverPayload
from jarvis_workers.sec.stages.reading_plan import reading_outcome, unread
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.snapshots.reader import Reader
from jarvis_workers.store.values import StageJob

UNWITNESSED = "not checked by other analyzers: {reason}"
UNPLACED = "findings of other analyzers were not placed: {reason}"


def _no_gaps(_reader: Reader, _blobs: Blobs, _jobs: Sequence[StageJob]) -> Iterable[Gap]:
    return ()


def _no_value(_blobs: Blobs, _jobs: Sequence[StageJob]) -> None:
    return None


class ReportedStage(NamedTuple):
    """What a stage adds: `gaps` yields the files that it has not checked, `value` makes a field of the summary.

    Both get the outcomes of its jobs; they are not called for runs without the stage.
    """

    stage: str
    gaps: Callable[[Reader, Blobs, Sequence[StageJob]], Iterable[Gap]] = _no_gaps
    field: str = ""
    value: Callable[[Blobs, Sequence[StageJob]], Any] = _no_value


def stage_gaps(reader: Reader, blobs: Blobs, jobs: StageJobs) -> Iterator[Gap]:
    """Yield the files that stages have not checked, with the reasons."""
    for one in REPORTED:
        if one.stage in jobs:
            yield from one.gaps(reader, blobs, jobs[one.stage])


def stage_values(blobs: Blobs, jobs: StageJobs) -> dict[str, Any]:
    """Return the fields of the summary that stages add."""
    return {one.field: one.value(blobs, jobs[one.stage]) for one in REPORTED if one.field and one.stage in jobs}


def _stated(_: Reader, blobs: Blobs, jobs: Sequence[StageJob]) -> Iterable[Gap]:
    return stated_gaps(blobs, jobs)


def _unwitnessed(_: Reader, blobs: Blobs, jobs: Sequence[StageJob]) -> Iterable[Gap]:
    lost = ((job.label, UNWITNESSED.format(reason=job.reason or NOT_REACHED)) for job in jobs if not job.done)
    return (*stated_gaps(blobs, jobs), *lost)


def _unplaced(_: Reader, blobs: Blobs, jobs: Sequence[StageJob]) -> Iterable[Gap]:
    lost = ((WHOLE_TREE, UNPLACED.format(reason=job.reason or NOT_REACHED)) for job in jobs if not job.done)
    return (*stated_gaps(blobs, jobs), *lost)


def _unasked(_: Reader, blobs: Blobs, jobs: Sequence[StageJob]) -> Iterable[Gap]:
    """Yield the defects that no model is asked about; undecided candidates are listed among the findings."""
    return (gap for gap in stated_gaps(blobs, jobs) if gap[1].startswith(UNASKED_STARTS))


def _unsearched(_: Reader, blobs: Blobs, jobs: Sequence[StageJob]) -> Iterable[Gap]:
    return (*stated_gaps(blobs, jobs), *unsearched(blobs, jobs))


def _unread(_: Reader, blobs: Blobs, jobs: Sequence[StageJob]) -> Iterable[Gap]:
    return (*stated_gaps(blobs, jobs), *unread(blobs, jobs))


def _discovery(_: Blobs, jobs: Sequence[StageJob]) -> DiscoveryOutcome | None:
    """Return what a run of an earlier version has searched, or None if it searches no functions."""
    if not jobs:
        return None
    planned = DiscoverPayload.from_json(jobs[0].payload)
    searched = sum(job.files for job in jobs if job.done)
    return DiscoveryOutcome(planned.functions, planned.chosen, searched, planned.lines_outside)


# Only runs of earlier versions have `rank` and `discover`.
REPORTED = (
    ReportedStage("rank", _stated),
    ReportedStage("discover", _unsearched, "discovery", _discovery),
    ReportedStage("witness", _unwitnessed),
    ReportedStage("alerts", _unplaced),
    ReportedStage("verify", _unasked),
    ReportedStage("verify_seen", _unasked),
    ReportedStage("map", _stated),
    ReportedStage("read", _unread, "reading", reading_outcome),
    ReportedStage("fuzz", field="fuzzing", value=fuzzing_outcome),
)
