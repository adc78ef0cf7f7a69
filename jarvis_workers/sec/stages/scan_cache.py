"""Cache the scan results of a file, keyed by its content, its context, and everything that determines the rules."""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from hashlib import sha256
from itertools import groupby
from typing import Any

from jarvis_workers.sec.rules import rules_fingerprint
from jarvis_workers.sec.scanner import NOTHING, Hit, Scan
from jarvis_workers.sec.suppressions import Remark
from jarvis_workers.snapshots.filecache import FileCache
from jarvis_workers.snapshots.manifest import Entry
from jarvis_workers.source.identity import loaded_engine
from jarvis_workers.source.languages import is_header, is_test, language_of

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
