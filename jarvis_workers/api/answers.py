"""The result of a scan as JSON, from which a report is built; assembled while the snapshot exists."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from jarvis_workers.api.findings import Region
from jarvis_workers.api.regions import read_regions
from jarvis_workers.paths import shown
from jarvis_workers.sec.report_document import ReportBody
from jarvis_workers.sec.report_json import body_to_json
from jarvis_workers.sec.rules import Rule
from jarvis_workers.sec.run_reports.excerpts import read_excerpts
from jarvis_workers.sec.stages.options import SecOptions
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.snapshots.reader import open_snapshot
from jarvis_workers.store.values import Run


def answer_of(
    run: Run, part: Mapping[str, Any], body: ReportBody, rules: Sequence[Rule], blobs: Blobs
) -> dict[str, Any]:
    """Return the input of `report.report_from`; `part` is the `run` part of the report, `rules` those of the run."""
    fired = {issue.candidate.pattern for issue in body.findings}
    regions = read_regions(blobs, run.snapshot_id, body.findings)
    excerpts = read_excerpts(blobs, run.snapshot_id, [*body.issues, *body.dismissed])
    with open_snapshot(blobs, run.snapshot_id) as reader:
        files = [shown(entry.path) for entry in reader.files()]
    options = SecOptions.of(run)
    return {
        "run": dict(part),
        "body": body_to_json(body),
        "language": options.lang,
        "min_confidence": options.min_confidence,
        "titles": {rule.pattern: rule.title for rule in rules if rule.pattern in fired},
        "regions": {str(gid): _row(region) for gid, region in regions.items()},
        "excerpts": json.loads(json.dumps(excerpts)),
        "files": files,
    }


def _row(region: Region) -> list[Any]:
    return [region.start_column, region.end_line, region.end_column, region.function]
