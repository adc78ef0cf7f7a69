"""Scan files one by one, so that a file which takes too much, or kills its process, is lost alone and by name.

First together, in this process, which ends what takes too much.  A job that has failed or died before is done with
care: in a process apart.  A batch that takes long stops between two files, and the rest becomes a job of its own.
"""

import time
from collections.abc import Callable, Generator, Mapping
from contextlib import closing
from functools import partial
from typing import Any, NamedTuple

from jarvis_workers.errors import GivenUp, SnapshotDamaged
from jarvis_workers.sec.scanner import Scan, Scanner, is_header, is_test, language_of
from jarvis_workers.snapshots.manifest import Entry
from jarvis_workers.snapshots.reader import Reader
from jarvis_workers.steps.known import as_said, from_said
from jarvis_workers.steps.profile import Watch
from jarvis_workers.toolchain.apart import Lost, each_apart
from jarvis_workers.toolchain.limits import Budget

DEFAULT_LANGUAGE = "c/cpp"
# A file of this size may take twice as long.
LARGE_BYTES = 100_000_000


class Limits(NamedTuple):
    """What a file may take, in CPU (more if it is large) and memory; and how long a batch begins further files."""

    file_seconds: float = 10.0
    file_memory_mb: float = 2048.0
    batch_seconds: float = 150.0

    def seconds(self, entry: Entry) -> float:
        return self.file_seconds * (1 + entry.size / LARGE_BYTES)


class NotChecked(NamedTuple):
    """Why a file was not checked."""

    reason: str


Outcome = Scan | NotChecked


def scan_files(
    reader: Reader,
    scanner: Scanner,
    todo: Mapping[str, Entry],
    limits: Limits,
    *,
    careful: bool = False,
    watch: Watch | None = None,
) -> dict[str, Outcome]:
    """Return what came of the files, by their keys: of one at least, of all if there is time for all."""
    for language in {_language(entry) for entry in todo.values()}:
        scanner.scan(b"", language=language)
    if watch:
        watch.start()
    give_up = time.monotonic() + limits.batch_seconds
    outcomes: dict[str, Outcome] = {}
    with closing((_apart if careful else _together)(reader, scanner, todo, limits)) as scanned:
        for key, outcome in scanned:
            outcomes[key] = outcome
            if watch:
                watch.passed(todo[key])
            if time.monotonic() > give_up:
                break
    return outcomes


def _together(
    reader: Reader, scanner: Scanner, todo: Mapping[str, Entry], limits: Limits
) -> Generator[tuple[str, Outcome], None, None]:
    with Budget(limits.file_memory_mb) as budget:
        for key, entry in todo.items():
            yield key, _within(budget, limits.seconds(entry), partial(_scan, reader, scanner, entry))


def _apart(
    reader: Reader, scanner: Scanner, todo: Mapping[str, Entry], limits: Limits
) -> Generator[tuple[str, Outcome], None, None]:
    def work(entry: Entry) -> list[Any]:
        with Budget(limits.file_memory_mb) as budget:
            outcome = _within(budget, limits.seconds(entry), partial(_scan, reader, scanner, entry))
        return as_said(outcome) if isinstance(outcome, Scan) else list(outcome)

    with closing(each_apart(list(todo.values()), work, limits.seconds)) as answers:
        for key, said in zip(todo, answers, strict=True):
            if isinstance(said, Lost):
                yield key, NotChecked(said.reason)
            else:
                yield key, NotChecked(*said) if len(said) == 1 else from_said(said)


def _within(budget: Budget, seconds: float, scan: Callable[[], Scan]) -> Outcome:
    try:
        return budget.run(scan, seconds)
    except (SnapshotDamaged, GivenUp) as problem:
        return NotChecked(str(problem))


def _scan(reader: Reader, scanner: Scanner, entry: Entry) -> Scan:
    header, test = is_header(entry.path), is_test(entry.path)
    return scanner.scan(reader.read(entry), language=_language(entry), header=header, test=test)


def _language(entry: Entry) -> str:
    return language_of(entry.path) or DEFAULT_LANGUAGE
