"""Scan the files of a batch, each within its own limits."""

import json
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from hashlib import sha256
from itertools import groupby
from typing import Any, TypeVar

from jarvis_workers.paths import shown
from jarvis_workers.pipeline.each_file import FileLimits, FileNotChecked, Task, each_file
from jarvis_workers.sec.rules import rules_fingerprint
from jarvis_workers.sec.rules.rule import Rule
from jarvis_workers.sec.scanner import NOTHING, Hit, Scan, Scanner
from jarvis_workers.sec.suppressions import Remark
from jarvis_workers.snapshots.filecache import FileCache
from jarvis_workers.snapshots.reader import Entry, Reader
from jarvis_workers.source.identity import loaded_engine
from jarvis_workers.source.languages import is_header, is_test, language_of

# Cache the scan results of a file, keyed by its content, its context, and everything that determines the rules.

FORMAT = 2
DIGEST_LENGTH = 40
Keyed = tuple[str, Entry]


class ScanCache:
    """The cached results of files for a set of rules; disabled without `results`.

    `chosen` identifies the rules of the run (None: built-in rules only), `engine` the local matching engine.
    """

    def __init__(self, results: FileCache | None, rules: str | None, engine: str | None = None) -> None:
        self._results = results
        self._rules = _rules_key(rules, engine) if results else ""

    def recall(self, files: Sequence[Keyed], *, whole: bool = False) -> dict[str, Scan]:
        """Return the cached results by key; if `whole` is set, stop at the first directory with a missing result."""
        scans: dict[str, Scan] = {}
        for directory, keys in _by_directory(files):
            entries = self._results.find(self._rules, directory, keys) if self._results else {}
            if whole and len(entries) < len(set(keys)):
                break
            scans.update((key, _decode(payload)) for key, payload in entries.items())
        return scans

    def put(self, files: Sequence[Keyed], scans: Mapping[str, Scan]) -> None:
        """Cache the results of files, by directory."""
        if self._results is None:
            return
        for directory, keys in _by_directory(files):
            new = {key: _encode(scans[key]) for key in keys if key in scans}
            self._results.put(self._rules, directory, new)


def keyed(entries: Sequence[Entry]) -> list[Keyed]:
    """Return the entries with their cache keys, which cover everything that their scan depends on."""
    return [(_key(entry), entry) for entry in entries]


def _key(entry: Entry) -> str:
    language = language_of(entry.path)
    context = f"{language[0] if language else '-'}{'h' if is_header(entry.path) else '-'}"
    return f"{entry.digest[:DIGEST_LENGTH]}{context}{'t' if is_test(entry.path) else '-'}"


def scan_to_json(scan: Scan) -> list[Any]:
    """Return the JSON form of a scan."""
    return list(scan)


def scan_from_json(fields: list[Any]) -> Scan:
    """Return a scan from its JSON form."""
    hits, problem, remarks = fields
    return Scan(tuple(Hit(*hit) for hit in hits), problem, tuple(Remark(*remark) for remark in remarks))


def _encode(scan: Scan) -> bytes:
    return b"" if scan == NOTHING else json.dumps(scan_to_json(scan), separators=(",", ":")).encode()


def _decode(payload: bytes) -> Scan:
    return scan_from_json(json.loads(payload)) if payload else NOTHING


def _by_directory(files: Sequence[Keyed]) -> Iterator[tuple[bytes, list[str]]]:
    for directory, inside in groupby(files, key=lambda keyed: keyed[1].path.rpartition(b"/")[0]):
        yield directory, [key for key, _ in inside]


@cache
def loaded_rules() -> str:
    """Return the fingerprint of the built-in rules; long-lived processes call this early.

    The files of the rules may be replaced later, and old and new rules give different results.
    """
    return rules_fingerprint()


def load_identity() -> None:
    """Compute the fingerprints of the built-in rules and of the pattern engine (see `loaded_rules`)."""
    loaded_rules()
    loaded_engine()


@cache
def _rules_key(rules: str | None, engine: str | None) -> str:
    return sha256(f"{FORMAT}:{loaded_rules()}:{rules}:{engine or loaded_engine()}".encode()).hexdigest()[:16]


# Measure the time per rule and file on request; otherwise this costs nothing.

TOP = 20
DIGITS = 6

T = TypeVar("T")


class ProfiledScanner:
    """A scanner that records the times of its rules and files since its start."""

    def __init__(self, scanner: Scanner) -> None:
        self.scanner = Scanner(rules=[self._timed(rule) for rule in scanner.rules])
        self.start()

    def start(self) -> None:
        self._rules: dict[str, list[float]] = defaultdict(lambda: [0.0, 0])
        self._files: list[tuple[float, int, bytes]] = []
        self._since = time.thread_time()

    def record(self, entry: Entry) -> None:
        """Record the time of a finished file."""
        now = time.thread_time()
        self._files.append((now - self._since, entry.size, entry.path))
        self._since = now

    def to_json(self) -> str:
        """Return the times as JSON: all rules, and the slowest files."""
        files = sorted(self._files, reverse=True)[:TOP]
        return json.dumps(
            {
                "seconds": sum(seconds for seconds, _, _ in self._files),
                "bytes": sum(size for _, size, _ in self._files),
                "rules": [[name, *times] for name, times in self._rules.items()],
                "files": [[shown(path), seconds, size] for seconds, size, path in files],
            }
        )

    def _timed(self, rule: Rule) -> Rule:
        dismisses = self._with_timing(rule.pattern, rule.dismisses) if rule.dismisses else None
        check = self._with_timing(rule.pattern, rule.check) if rule.check else None
        return rule._replace(check=check, dismisses=dismisses)

    def _with_timing(self, name: str, check: Callable[..., T]) -> Callable[..., T]:
        def measured(*arguments: Any) -> T:
            began = time.thread_time()
            answer = check(*arguments)
            times = self._rules[name]
            times[0] += time.thread_time() - began
            times[1] += 1
            return answer

        return measured


def merge(profiles: Iterable[str]) -> dict[str, Any]:
    """Return the times of a run: the TOP slowest rules and files, slowest first."""
    rules: dict[str, list[float]] = defaultdict(lambda: [0.0, 0])
    files: list[list[Any]] = []
    seconds, size = 0.0, 0
    for profile in map(json.loads, profiles):
        seconds += profile["seconds"]
        size += profile["bytes"]
        files += profile["files"]
        for name, took, calls in profile["rules"]:
            rules[name][0] += took
            rules[name][1] += calls
    slowest = sorted(rules.items(), key=lambda item: (-item[1][0], item[0]))[:TOP]
    files.sort(key=lambda file: (-file[1], file[0]))
    return {
        "cpu_seconds": round(seconds, DIGITS),
        "bytes": size,
        "rules": [{"rule": name, "seconds": round(took, DIGITS), "calls": calls} for name, (took, calls) in slowest],
        "files": [{"file": name, "seconds": round(took, DIGITS), "bytes": size} for name, took, size in files[:TOP]],
    }


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
