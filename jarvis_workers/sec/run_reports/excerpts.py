"""Read the code around the findings of a run from its snapshot, for reports that show it.

If the snapshot has been pruned or is damaged, the report has no code and says so.
"""

from collections.abc import Collection, Iterator, Sequence

from jarvis_workers.errors import SnapshotError
from jarvis_workers.paths import shown
from jarvis_workers.sec.report.excerpts import bounded, cut, spots_by_file, window
from jarvis_workers.sec.report_document import Excerpt, Issue
from jarvis_workers.sec.scanner import source_text
from jarvis_workers.sec.stages.scan_files import language_for
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.snapshots.reader import Entry, Reader, open_snapshot


def read_excerpts(blobs: Blobs, snapshot_id: str, issues: Sequence[Issue]) -> dict[str, Excerpt]:
    """Return excerpts by the ids of the issues, for the highest-ranked ones, if the snapshot can be read."""
    spots = spots_by_file(issues)
    result: dict[str, dict[str, list[Excerpt]]] = {}
    try:
        with open_snapshot(blobs, snapshot_id) as reader:
            for file, entry in _entries(reader, spots):
                content = _content(reader, entry)
                if content is not None:
                    result[file] = cut(content, spots[file])
    except SnapshotError:
        return {}
    return bounded(result, issues)


def read_around(blobs: Blobs, snapshot_id: str, file: str, line: int, around: int) -> Excerpt | None:
    """Return `around` lines of a file before and after a line, or None if it cannot be read."""
    try:
        with open_snapshot(blobs, snapshot_id) as reader:
            for _, entry in _entries(reader, {file}):
                return window(_text(reader, entry), line, around)
    except SnapshotError:
        pass
    return None


def _entries(reader: Reader, names: Collection[str]) -> Iterator[tuple[str, Entry]]:
    """Find files by their display names, which are unique."""
    for entry in reader.files() if names else ():
        name = shown(entry.path)
        if name in names:
            yield name, entry


def _content(reader: Reader, entry: Entry) -> bytes | None:
    try:
        return _text(reader, entry)
    except SnapshotError:
        return None


def _text(reader: Reader, entry: Entry) -> bytes:
    return source_text(reader.read(entry), language_for(entry))
