"""Cache the results of `dataflow` on this machine, per file, grouped by directory; None is a valid result."""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from hashlib import sha256
from itertools import groupby
from typing import Any

from jarvis_workers.dataflow import flow_fingerprint
from jarvis_workers.snapshots.filecache import FileCache
from jarvis_workers.source.identity import loaded_engine

FORMAT = 3
CacheKey = tuple[str, bytes]


class FlowCache:
    """The cached results of one space; disabled without `results`. All keys have the same length."""

    def __init__(self, results: FileCache | None, space: str) -> None:
        self._results = results
        self._space = space

    def find(self, files: Sequence[CacheKey]) -> dict[str, Any]:
        """Return the cached results by key; files are given by key and path."""
        results: dict[str, Any] = {}
        for directory, keys in _by_directory(files) if self._results else ():
            entries = self._results.find(self._space, directory, keys) if self._results else {}
            results.update((key, json.loads(payload) if payload else None) for key, payload in entries.items())
        return results

    def put(self, files: Sequence[CacheKey], results: Mapping[str, Any]) -> None:
        """Cache the results of files."""
        if self._results is None:
            return
        for directory, keys in _by_directory(files):
            self._results.put(self._space, directory, {key: _encode(results[key]) for key in keys if key in results})


@cache
def loaded_flow() -> str:
    """Return the fingerprint of `dataflow`. Long-lived processes call this early, since its files may be replaced."""
    return flow_fingerprint()


@cache
def space(stage: str, engine: str | None = None, own: str = "") -> str:
    """Return the cache space of a stage's results.

    `engine` is the local engine by default, `own` the key of a project's own rules.
    """
    return sha256(f"{FORMAT}:{stage}:{loaded_flow()}:{engine or loaded_engine()}{own}".encode()).hexdigest()[:16]


def key_of_rules(rows: Sequence[Any]) -> str:
    """Return a key that covers all that the results of a project's own rules depend on; empty without such rules."""
    return sha256(json.dumps(rows, sort_keys=True).encode()).hexdigest()[:16] if rows else ""


def _encode(value: Any) -> bytes:
    return b"" if value is None else json.dumps(value, separators=(",", ":")).encode()


def _by_directory(files: Sequence[CacheKey]) -> Iterator[tuple[bytes, list[str]]]:
    for directory, inside in groupby(files, key=lambda seen: seen[1].rpartition(b"/")[0]):
        yield directory, [key for key, _ in inside]
