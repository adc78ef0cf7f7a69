"""The result of a scan as JSON, from which a report is built; assembled while the snapshot exists."""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from jarvis_workers.api.findings import Region
from jarvis_workers.errors import SnapshotError
from jarvis_workers.paths import shown
from jarvis_workers.sec.report_document import Issue, ReportBody
from jarvis_workers.sec.report_json import body_to_json
from jarvis_workers.sec.rules import Rule
from jarvis_workers.sec.run_reports.excerpts import read_excerpts
from jarvis_workers.sec.scanner import source_text
from jarvis_workers.sec.stages.options import SecOptions
from jarvis_workers.sec.stages.scan_files import language_for
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.snapshots.reader import open_snapshot
from jarvis_workers.source.functions import Functions, functions
from jarvis_workers.source.lex import mask
from jarvis_workers.store.values import Run

# Source regions of findings: start and end of their code and the enclosing function, from the snapshot.

# Larger files are not searched for functions, as that takes longer than the scan.
FUNCTIONS_BYTES = 4_000_000


def read_regions(blobs: Blobs, snapshot_id: str, issues: Iterable[Issue]) -> dict[int, Region]:
    """Return regions by the gids of issues, for those whose file can be read."""
    by_file: defaultdict[str, list[Issue]] = defaultdict(list)
    for issue in issues:
        by_file[issue.candidate.file].append(issue)
    result: dict[int, Region] = {}
    with open_snapshot(blobs, snapshot_id) as reader:
        for entry in reader.files() if by_file else ():
            regions = by_file.get(shown(entry.path))
            if regions is None:
                continue
            try:
                content = source_text(reader.read(entry), language_for(entry))
            except SnapshotError:
                continue
            result |= _regions(content, language_for(entry), regions)
    return result


def _regions(content: bytes, language: str, issues: Iterable[Issue]) -> dict[int, Region]:
    lines, starts = content.split(b"\n"), [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    within = _functions(content, language)
    return {
        issue.gid: _region(lines[issue.candidate.line - 1], starts[issue.candidate.line - 1], issue, within)
        for issue in issues
        if 0 < issue.candidate.line <= len(lines)
    }


def _functions(content: bytes, language: str) -> Functions:
    if len(content) > FUNCTIONS_BYTES:
        return Functions([])
    text, _ = mask(content, language)
    return functions(text, language)


def _region(line: bytes, start: int, issue: Issue, within: Functions) -> Region:
    """Return the region from the place where the rule fired to the end of the evidence, else to the end of the line."""
    text = line.decode("utf-8", "backslashreplace").replace("\t", " ").rstrip()
    place = text.find(issue.candidate.evidence)
    column = issue.candidate.column
    first = column - 1 if column else len(text) - len(text.lstrip())
    last = place + len(issue.candidate.evidence) if place >= 0 else len(text)
    # For a function on one line, its head starts before the body, but the end of the line is inside.
    indent, code = len(line) - len(line.lstrip()), len(line.rstrip())
    function = within.at(start + indent) or within.at(start + max(indent, code - 1))
    name = function.name.decode("utf-8", "backslashreplace") if function else None
    return Region(first + 1, issue.candidate.line, max(first, last) + 1, name)


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
