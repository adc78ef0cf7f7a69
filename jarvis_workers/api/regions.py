"""Source regions of findings: start and end of their code and the enclosing function, from the snapshot."""

from collections import defaultdict
from collections.abc import Iterable

from jarvis_workers.api.findings import Region
from jarvis_workers.errors import SnapshotError
from jarvis_workers.paths import shown
from jarvis_workers.sec.report_document import Issue
from jarvis_workers.sec.scanner import source_text
from jarvis_workers.sec.stages.scan_files import language_for
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.snapshots.reader import open_snapshot
from jarvis_workers.source.functions import Functions, functions
from jarvis_workers.source.lex import mask

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
