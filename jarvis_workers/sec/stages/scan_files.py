"""Scan the files of a batch, each within its own limits."""

from collections.abc import Mapping

from jarvis_workers.pipeline.each_file import FileLimits, FileNotChecked, Task, each_file
from jarvis_workers.sec.scanner import Scan, Scanner
from jarvis_workers.sec.stages.profile import ProfiledScanner
from jarvis_workers.sec.stages.scan_cache import scan_from_json, scan_to_json
from jarvis_workers.snapshots.manifest import Entry
from jarvis_workers.snapshots.reader import Reader
from jarvis_workers.source.languages import is_header, is_test, language_of

DEFAULT_LANGUAGE = "c/cpp"

Outcome = Scan | FileNotChecked


def scan_files(
    reader: Reader,
    scanner: Scanner,
    todo: Mapping[str, Entry],
    limits: FileLimits,
    *,
    careful: bool = False,
    watch: ProfiledScanner | None = None,
) -> dict[str, Outcome]:
    """Return the outcomes of files by key, for at least one file, and for all files if time permits."""
    for language in {language_for(entry) for entry in todo.values()}:
        scanner.scan(b"", language=language)
    if watch:
        watch.start()

    def scan(entry: Entry) -> Scan:
        header, test = is_header(entry.path), is_test(entry.path)
        return scanner.scan(reader.read(entry), language=language_for(entry), header=header, test=test)

    task = Task(scan, scan_to_json, scan_from_json)
    return each_file(todo, task, limits, careful=careful, passed=watch.record if watch else None)


def language_for(entry: Entry) -> str:
    """Return the language of a file, or the default language if its suffix is unknown."""
    return language_of(entry.path) or DEFAULT_LANGUAGE
