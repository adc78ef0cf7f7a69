"""Scan a batch of files, which is a byte range of the snapshot's manifest.

This module avoids slow imports, since the startup time of each scanning child process is part of the scan time.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from jarvis_workers.pipeline.each_file import FileNotChecked
from jarvis_workers.pipeline.history import BatchPayload, BatchWork, batch_job, rest_label, work_of
from jarvis_workers.sec.rules import RULES_BY_PATTERN, rules_fingerprint
from jarvis_workers.sec.scanner import Scan, Scanner
from jarvis_workers.sec.stages.options import SecOptions
from jarvis_workers.sec.stages.results import CandidateResult
from jarvis_workers.sec.stages.scan_files import Keyed, Outcome, ProfiledScanner, ScanCache, keyed, scan_files
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.snapshots.reader import Entry, entry_line, open_snapshot
from jarvis_workers.snapshots.resources import Resources
from jarvis_workers.source.pattern_cache import PatternCache
from jarvis_workers.store.values import Claimed, Commit, Meaning, NewJob, Spot

if TYPE_CHECKING:
    from jarvis_workers.store.session import Session
    from jarvis_workers.store.values import Run

SCANNERS_MAX = 4


@dataclass(frozen=True, kw_only=True)
class ScanWork(BatchWork):
    """A batch to scan; `profile` enables time measurement."""

    profile: bool = False


read_work = ScanWork.decode


def plan(run: "Run", blobs: Blobs) -> Iterator[NewJob]:
    """Yield a job per batch of the snapshot."""
    reader = open_snapshot(blobs, run.snapshot_id)
    options = SecOptions.of(run)
    for batch in reader.batches(options.batch_files, options.batch_bytes):
        yield _job(
            run.snapshot_id, options.rules.blob, BatchPayload(batch.offset, batch.length), batch.label, batch.bytes
        )


def load(_: "Session", run: "Run", job: Claimed) -> ScanWork:
    """Return the batch of a job."""
    options = SecOptions.of(run)
    return work_of(ScanWork, run, job, rules=options.rules.blob, profile=options.profile)


def recall(work: ScanWork, resources: Resources) -> Commit | None:
    """Return the commit of a batch whose results are all cached, or None; no file is read."""
    if not (work.cache and resources.cache):
        return None
    with open_snapshot(resources.blobs, work.snapshot) as reader:
        files = keyed(reader.entries(work.offset, work.length))
    cached = _scan_cache(work, resources).recall(files, whole=True)
    if any(key not in cached for key, _ in files):
        return None
    return _commit(_scanner_of(work, resources), files, cached, cached=len(files))


def decide(work: ScanWork, resources: Resources) -> Commit:
    """Scan the files without cached results; a file that cannot be checked does not affect the others."""
    scanner, cache = _scanner_of(work, resources), _scan_cache(work, resources)
    watch = _watch(scanner) if work.profile else None
    with open_snapshot(resources.blobs, work.snapshot) as reader:
        files = keyed(reader.entries(work.offset, work.length))
        recalled = cache.recall(files)
        todo: dict[str, Entry] = {}
        for key, entry in files:
            if key not in recalled:
                todo.setdefault(key, entry)
        reader.fetch(todo.values())
        scans = watch.scanner if watch else scanner
        fresh = scan_files(reader, scans, todo, work.limits, careful=work.careful, watch=watch)
    cache.put(files, {key: scan for key, scan in fresh.items() if isinstance(scan, Scan)})
    outcomes: dict[str, Outcome] = {**recalled, **fresh}
    reached = next((at for at, (key, _) in enumerate(files) if key not in outcomes), len(files))
    done, rest = files[:reached], [entry for _, entry in files[reached:]]
    commit = _commit(scanner, done, outcomes, cached=sum(key in recalled for key, _ in done))
    children = (_rest(work, done, rest),) if rest else ()
    return commit._replace(children=children, profile=watch.to_json() if watch else None)


def _commit(scanner: Scanner, files: Sequence[Keyed], outcomes: Mapping[str, Outcome], *, cached: int) -> Commit:
    spots: list[Spot] = []
    not_checked: list[tuple[bytes, str]] = []
    remarks: list[tuple[bytes, int, str, str]] = []
    checked = size = 0
    for key, entry in files:
        outcome = outcomes[key]
        if isinstance(outcome, FileNotChecked):
            not_checked.append((entry.path, outcome.reason))
            continue
        checked += 1
        size += entry.size
        spots += [Spot(entry.path, *hit) for hit in outcome.hits]
        remarks += [(entry.path, *remark) for remark in outcome.remarks]
        if outcome.problem:
            not_checked.append((entry.path, outcome.problem))
    return Commit(
        files=checked,
        size=size,
        cached=cached,
        results=(CandidateResult(tuple(spots), _meanings(scanner, spots)),),
        not_checked=tuple(not_checked),
        remarks=tuple(remarks),
    )


def _rest(work: ScanWork, done: Sequence[Keyed], rest: Sequence[Entry]) -> NewJob:
    """Return a job for the files left when the time was up."""
    length = sum(len(entry_line(entry)) for _, entry in done)
    payload = BatchPayload(work.offset + length, work.length - length)
    size = sum(entry.size for entry in rest)
    return _job(work.snapshot, work.rules, payload, rest_label(rest[0].path, len(rest)), size)


def _job(snapshot: str, rules: str | None, payload: BatchPayload, label: str, size: int) -> NewJob:
    return batch_job("scan", snapshot, payload, label=label, weight=size, made_by=(rules_fingerprint(), rules))


def _scan_cache(work: ScanWork, resources: Resources) -> ScanCache:
    return ScanCache(resources.cache if work.cache else None, work.rules)


def _scanner_of(work: ScanWork, resources: Resources) -> Scanner:
    return _scanner(resources.blobs.read(work.rules) if work.rules else None, resources.patterns)


@lru_cache(SCANNERS_MAX)
def _scanner(rules: bytes | None, patterns: Path | None) -> Scanner:
    cache = PatternCache(patterns) if patterns else None
    if rules is None:
        return Scanner(pattern_cache=cache)
    from jarvis_workers.sec.stages.ruleset import rules_of  # noqa: PLC0415  (only needed for selected rules)

    return Scanner(rules=rules_of(rules), pattern_cache=cache)


@lru_cache(SCANNERS_MAX)
def _watch(scanner: Scanner) -> ProfiledScanner:
    return ProfiledScanner(scanner)


def _meanings(scanner: Scanner, spots: list[Spot]) -> tuple[Meaning, ...]:
    """Return the descriptions of the rules that fired, except built-in ones."""
    fired = {spot.pattern for spot in spots} - RULES_BY_PATTERN.keys()
    own = [rule for rule in scanner.rules if rule.pattern in fired]
    return tuple(
        Meaning(rule.pattern, rule.language, rule.category, rule.cwe, rule.description, rule.suggestion) for rule in own
    )
