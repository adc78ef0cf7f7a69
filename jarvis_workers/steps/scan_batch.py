"""Scan a batch of files: the files of one byte range of the snapshot's manifest.

Light on purpose, as the start of every scanning child is part of the price of a scan.
"""

import hashlib
import json
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

from jarvis_workers.errors import SnapshotDamaged
from jarvis_workers.sec.rules import rules_fingerprint
from jarvis_workers.sec.scanner import Scan, Scanner, is_header, is_test, language_of
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.snapshots.manifest import Entry
from jarvis_workers.snapshots.reader import Reader, open_snapshot
from jarvis_workers.store.values import Claimed, Commit, NewJob, Spot

if TYPE_CHECKING:
    from sqlmodel import Session

    from jarvis_workers.store.runs import Run

Known = dict[tuple[str, str | None, bool, bool], Scan]


def plan(run: "Run", blobs: Blobs) -> Iterator[NewJob]:
    """Yield a job for each batch of the snapshot."""
    reader = open_snapshot(blobs, run.snapshot_id)
    for batch in reader.batches(run.options["batch_files"], run.options["batch_bytes"]):
        payload = json.dumps({"offset": batch.offset, "length": batch.length})
        named = f"{run.snapshot_id}:{payload}:{rules_fingerprint()}"
        yield NewJob(
            step="scan",
            queue="scan",
            label=batch.label,
            input_hash=hashlib.sha256(named.encode()).hexdigest(),
            payload=payload,
            weight=batch.bytes,
        )


def load(_: "Session", run: "Run", job: Claimed) -> dict[str, Any]:
    """Return what a child needs to know."""
    return {"snapshot": run.snapshot_id, **json.loads(job.payload)}


def decide(work: dict[str, Any], blobs: Blobs) -> Commit:
    """Scan the files; one that cannot be read is not checked, and does not hide the others."""
    known: Known = {}
    spots: list[Spot] = []
    not_checked: list[tuple[bytes, str]] = []
    files = size = 0
    with open_snapshot(blobs, work["snapshot"]) as reader:
        for entry in reader.entries(work["offset"], work["length"]):
            try:
                found = _scan(reader, entry, known)
            except SnapshotDamaged as problem:
                not_checked.append((entry.path, str(problem)))
                continue
            files += 1
            size += entry.size
            spots += [Spot(entry.path, *hit) for hit in found.hits]
            if found.problem:
                not_checked.append((entry.path, found.problem))
    return Commit(files=files, size=size, spots=tuple(spots), not_checked=tuple(not_checked))


def _scan(reader: Reader, entry: Entry, known: Known) -> Scan:
    language, header, test = language_of(entry.path), is_header(entry.path), is_test(entry.path)
    key = (entry.digest, language, header, test)
    if key not in known:
        content = reader.read(entry)
        known[key] = _scanner().scan(content, language=language or "c/cpp", header=header, test=test)
    return known[key]


@cache
def _scanner() -> Scanner:
    return Scanner()
