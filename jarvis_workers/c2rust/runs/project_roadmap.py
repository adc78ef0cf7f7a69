"""Measure the stages of a project's roadmap from its last runs."""

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel, Field, ValidationError

from jarvis_workers.c2rust.roadmap import (
    Measurements,
    RiskSummary,
    RoadmapGates,
    RoadmapStage,
    category_changes,
    roadmap,
)
from jarvis_workers.c2rust.runs.conversion_results import read_conversion
from jarvis_workers.c2rust.runs.optimize_results import OptimizeResult
from jarvis_workers.c2rust.runs.replacement_results import ReplacementResult
from jarvis_workers.c2rust.stages.pipelines import CONVERTING, OPTIMIZE, REPLACE
from jarvis_workers.errors import UsageError
from jarvis_workers.paths import plain
from jarvis_workers.runs import wiring
from jarvis_workers.runs.runs import newest_runs
from jarvis_workers.runs.scan_request import blobs_of
from jarvis_workers.sec.run_reports.baselines import load_report
from jarvis_workers.sec.run_reports.diff import report_of_run
from jarvis_workers.sec.runs.scan_runs import find_scan, newest_scans

if TYPE_CHECKING:
    from jarvis_workers.settings import Settings
    from jarvis_workers.store.engine import Store

RUN_NAME = re.compile(r"[A-Za-z0-9_-]{1,32}")
MOST_RUNS = 10_000
# The crate of a project, unless another directory was chosen.
CRATE_SUFFIX = b"_rs"
WITH_RESULTS = ("done", "incomplete")


class SecurityTotals(BaseModel):
    """The totals in the JSON report of a security scan."""

    score_sum: float = Field(allow_inf_nan=False)
    by_category: dict[str, int]
    by_severity: dict[str, int]


def measure_roadmap(
    settings: "Settings", project: Path, before: str | None, after: str | None
) -> tuple[list[RoadmapStage], list[tuple[str, int, int]]]:
    """Return the stages of a project, and the number of findings of each category before and after.

    `before` and `after` are security reports, each a run or a file; by default the first and the last of the project.
    Raises UsageError for a report that cannot be read.
    """
    root = os.fsencode(os.path.realpath(project))
    with wiring.store_of(settings, create=False) as store:
        own = newest_runs(store, MOST_RUNS, root=root, states=WITH_RESULTS)
        crates = newest_runs(store, MOST_RUNS, root=root + CRATE_SUFFIX, states=WITH_RESULTS)
        scans = newest_scans(store, MOST_RUNS, root=root, states=WITH_RESULTS)
        first = before or (scans[-1].id if scans else None)
        last = after or (scans[0].id if len(scans) > 1 else None)
        converted = next((run for run in own if run.kind in CONVERTING), None)
        replaced = next((run for run in own if run.kind == REPLACE), None)
        optimized = next((run for run in crates if run.kind == OPTIMIZE), None)
        blobs = blobs_of(settings)
        found = Measurements(
            _risk(settings, store, first),
            _risk(settings, store, last),
            read_conversion(store, blobs, converted) if converted else None,
            ReplacementResult(store, blobs, replaced).counts if replaced else None,
            OptimizeResult(store, blobs, optimized).report if optimized else None,
        )
    c2rust = settings.c2rust
    gates = RoadmapGates(
        c2rust.gate_score_fall_percent,
        c2rust.gate_high_findings,
        c2rust.gate_replaced_percent,
        c2rust.gate_attempts,
        c2rust.gate_time_ratio,
    )
    return roadmap(found, gates), category_changes(found)


def _risk(settings: "Settings", store: "Store", named: str | None) -> RiskSummary | None:
    if named is None:
        return None
    if not RUN_NAME.fullmatch(named):
        return _risk_of_file(named)
    summary = report_of_run(store, blobs_of(settings), find_scan(store, named)).body.summary
    return RiskSummary(summary.score_sum, summary.by_severity.get("high", 0), summary.by_category)


def _risk_of_file(named: str) -> RiskSummary:
    where = plain(named)
    try:
        found = SecurityTotals.model_validate(load_report(named, where).get("summary"))
    except ValidationError as error:
        raise UsageError(f"{where}: not a JSON report of jarvis sec: it has no totals") from error
    return RiskSummary(found.score_sum, found.by_severity.get("high", 0), found.by_category)
