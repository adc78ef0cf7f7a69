"""Create the summaries of a batch of files for the flow stage, with one job per scanned batch.

Files that could not be scanned are skipped, since they are already reported. Summaries are stored in the blob store;
this machine caches the location of each file's summary by its content, and the locations for a whole batch by all its
contents.
"""

import base64
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from jarvis_workers.dataflow import summarize
from jarvis_workers.dataflow.calls.function_models import function_models
from jarvis_workers.dataflow.calls.taint_rules import names_in, taint_rule
from jarvis_workers.errors import SnapshotError
from jarvis_workers.paths import as_text, from_shown, from_text, shown
from jarvis_workers.pipeline.each_file import FileNotChecked, Task, each_file
from jarvis_workers.pipeline.history import (
    BatchWork,
    StageHistory,
    batch_job,
    done_ranges,
    rest_label,
    unscanned,
    work_of,
)
from jarvis_workers.sec.scanner import source_text
from jarvis_workers.sec.stages.build_flags import BuildFlags, open_flags
from jarvis_workers.sec.stages.flow_cache import FlowCache, key_of_rules, loaded_flow, space
from jarvis_workers.sec.stages.flow_rules import NOT_RUN, flow_patterns, taint_rows
from jarvis_workers.sec.stages.options import SecOptions
from jarvis_workers.sec.stages.payloads import ModelBlobs, SummarizePayload
from jarvis_workers.sec.stages.scan_files import Keyed, keyed, language_for
from jarvis_workers.sec.stages.summaries import BlobRange, Model, index_of, pack_model, read_model, read_part
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.snapshots.reader import Entry, Reader, entry_line, open_snapshot
from jarvis_workers.snapshots.resources import Resources
from jarvis_workers.source.languages import is_header, is_test
from jarvis_workers.store.values import Claimed, Commit, NewJob

if TYPE_CHECKING:
    from jarvis_workers.store.session import Session
    from jarvis_workers.store.values import Run

STAGE = "summarize"
BATCH_LENGTH = 43
Made = Model | None


@dataclass(frozen=True, kw_only=True)
class SummarizeWork(BatchWork, SummarizePayload):
    """A batch to summarize."""


read_work = SummarizeWork.decode


def plan_on(run: "Run", blobs: Blobs, earlier: StageHistory) -> Iterator[NewJob]:
    """Yield a job per scanned batch if any flow rule is enabled."""
    rules = SecOptions.of(run).rules.blob
    if not flow_patterns(blobs, rules):
        return
    own = _key_of_names(_names(blobs, rules)) + (SecOptions.of(run).build or "")
    for scan, offset, length in done_ranges(earlier.outcomes("scan")):
        skip = sorted(as_text(from_shown(path)) for path in unscanned(blobs, scan))
        payload = SummarizePayload(offset, length, tuple(skip))
        yield _job(run.snapshot_id, payload, scan.label, scan.weight, own)


def load(_: "Session", run: "Run", job: Claimed) -> SummarizeWork:
    """Return the batch of a job."""
    options = SecOptions.of(run)
    return work_of(SummarizeWork, run, job, rules=options.rules.blob, build_flags=options.build)


def recall(work: SummarizeWork, resources: Resources) -> Commit | None:
    """Return the commit of a batch whose files are all unchanged, or None; no file is read."""
    if not (work.cache and resources.cache):
        return None
    blobs = resources.blobs
    with open_snapshot(blobs, work.snapshot) as reader:
        files = _files(reader.entries(work.offset, work.length), work, blobs)
    if not files:
        return Commit()
    key = _batch_key(files)
    entry = _batches(work, resources).find([(key, files[0][1].path)]).get(key)
    if entry is None:
        return None
    # The blob is written again to renew its use; otherwise it might be pruned during the run.
    blobs_copied = tuple((name, blobs.put(blobs.read(blob))) for name, blob in entry["blobs"])
    return Commit(files=len(files), size=entry["size"], cached=len(files), blobs=blobs_copied)


def decide(work: SummarizeWork, resources: Resources) -> Commit:
    """Create the summaries that are not cached; a file that cannot be read does not affect the others."""
    with suppress(SnapshotError):
        if cached := recall(work, resources):
            return cached
    with open_snapshot(resources.blobs, work.snapshot) as reader:
        entries = reader.entries(work.offset, work.length)
        files = _files(entries, work, resources.blobs)
        recalled = _recall_models(work, resources, files)
        todo: dict[str, Entry] = {}
        for key, entry in files:
            if key not in recalled:
                todo.setdefault(key, entry)
        reader.fetch(todo.values())
        names, flags = _names(resources.blobs, work.rules), open_flags(resources.blobs, work.build_flags)
        task: Task[Entry, Made] = Task(lambda entry: _model(reader, entry, names, flags), _to_json, _from_json)
        fresh = each_file(todo, task, work.limits, careful=work.careful)
    outcomes: dict[str, Made | FileNotChecked] = {**recalled, **fresh}
    reached = next((at for at, (key, _) in enumerate(files) if key not in outcomes), len(files))
    done, rest = files[:reached], [entry for _, entry in files[reached:]]
    commit = _save(work, resources, done, outcomes)
    children = (_rest(work, entries, rest, _key_of_names(names) + (work.build_flags or "")),) if rest else ()
    return commit._replace(cached=sum(key in recalled for key, _ in done), children=children)


def _save(
    work: SummarizeWork, resources: Resources, files: Sequence[Keyed], outcomes: Mapping[str, Made | FileNotChecked]
) -> Commit:
    """Write the summaries, and cache their locations."""
    checked: list[tuple[str, Entry, Made]] = []
    lost: list[tuple[bytes, str]] = []
    for key, entry in files:
        outcome = outcomes[key]
        if isinstance(outcome, FileNotChecked):
            lost.append((entry.path, NOT_RUN + outcome.reason))
        else:
            checked.append((key, entry, outcome))
    blob_names, places = _write(resources.blobs, [(key, entry, model) for key, entry, model in checked if model])
    size = sum(entry.size for _, entry, _ in checked)
    nothing = dict.fromkeys(key for key, _, model in checked if model is None)
    _models(work, resources).put([(key, entry.path) for key, entry in files], nothing | places)
    if files and not lost:
        whole = _batch_key(files)
        _batches(work, resources).put([(whole, files[0][1].path)], {whole: {"blobs": blob_names, "size": size}})
    return Commit(files=len(checked), size=size, not_checked=tuple(lost), blobs=blob_names)


def _write(
    blobs: Blobs, made: Sequence[tuple[str, Entry, Model]]
) -> tuple[tuple[tuple[str, str], ...], dict[str, Any]]:
    """Return the blobs of summaries and index, and the location of each file's summary for the cache."""
    if not made:
        return (), {}
    places: dict[str, tuple[BlobRange, BlobRange]] = {}
    content: list[bytes] = []
    end = 0
    for _, _, model in made:
        if model.key not in places:
            middle = end + len(model.face)
            places[model.key] = BlobRange(end, len(model.face)), BlobRange(middle, len(model.body))
            content += [model.face, model.body]
            end = middle + len(model.body)
    models = blobs.put(b"".join(content))
    index = blobs.put(index_of(((entry.path, entry.size, model) for _, entry, model in made), places))
    locations = {key: [models, *places[model.key], model.key] for key, _, model in made}
    return tuple(ModelBlobs(models, index).encode().items()), locations


def _recall_models(work: SummarizeWork, resources: Resources, files: Sequence[Keyed]) -> dict[str, Made]:
    """Return the cached summaries by key, if they are still in the blob store."""
    recalled: dict[str, Made] = {}
    for key, row in _models(work, resources).find([(key, entry.path) for key, entry in files]).items():
        if row is None:
            recalled[key] = None
            continue
        blob, face, body, known_by = row
        with suppress(SnapshotError):
            recalled[key] = read_model(resources.blobs, blob, (read_part(face), read_part(body)), known_by)
    return recalled


def _model(reader: Reader, entry: Entry, names: frozenset[bytes], flags: BuildFlags) -> Made:
    header, test = is_header(entry.path), is_test(entry.path)
    language = language_for(entry)
    content = source_text(reader.read(entry), language)
    path = shown(entry.path)
    defines = flags.of(path).defines
    model = summarize(content, language=language, header=header, test=test, path=path, names=names, defines=defines)
    return pack_model(model) if model else None


def _to_json(model: Made) -> list[Any] | None:
    if model is None:
        return None
    return [model.key, *(base64.b64encode(part).decode() for part in (model.face, model.body)), *model[3:]]


def _from_json(row: list[Any] | None) -> Made:
    if row is None:
        return None
    key, face, body, names, calls = row
    parts = base64.b64decode(face), base64.b64decode(body)
    return Model(key, *parts, tuple((name, digest) for name, digest in names), tuple(calls))


def _files(entries: Sequence[Entry], work: SummarizeWork, blobs: Blobs) -> list[Keyed]:
    """Return the files of the batch with their cache keys, which cover everything that a summary depends on."""
    skip = {from_text(path) for path in work.skip}
    files = keyed([entry for entry in entries if entry.path not in skip])
    flags = open_flags(blobs, work.build_flags)
    return [
        (f"{key}{_suffix_key(entry.path.rpartition(b'.')[2])}{flags.key_of(shown(entry.path))}", entry)
        for key, entry in files
    ]


@cache
def _suffix_key(suffix: bytes) -> str:
    """Return the key part for a suffix, which may determine the dialect of a file."""
    return hashlib.sha256(suffix).hexdigest()[:4]


def _batch_key(files: Sequence[Keyed]) -> str:
    text = json.dumps([(key, as_text(entry.path)) for key, entry in files])
    return hashlib.sha256(text.encode()).hexdigest()[:BATCH_LENGTH]


def _models(work: SummarizeWork, resources: Resources) -> FlowCache:
    return FlowCache(resources.cache if work.cache else None, _space(work, resources, "model"))


def _batches(work: SummarizeWork, resources: Resources) -> FlowCache:
    return FlowCache(resources.cache if work.cache else None, _space(work, resources, "batch"))


def _names(blobs: Blobs, rules: str | None) -> frozenset[bytes]:
    """Return the functions that a project's own rules name."""
    models = function_models(taint_rows(blobs, rules, "model")).names
    return names_in(map(taint_rule, taint_rows(blobs, rules))) | {name.encode() for name in models}


def _key_of_names(names: frozenset[bytes]) -> str:
    return key_of_rules(sorted(name.decode() for name in names))


def _space(work: SummarizeWork, resources: Resources, kind: str) -> str:
    flags = open_flags(resources.blobs, work.build_flags)
    return space(kind, own=_key_of_names(_names(resources.blobs, work.rules)) + flags.key)


def _rest(work: SummarizeWork, entries: Sequence[Entry], rest: Sequence[Entry], own: str) -> NewJob:
    """Return a job for the files left when the time was up."""
    passed = sum(len(entry_line(entry)) for entry in entries[: entries.index(rest[0])])
    payload = SummarizePayload(work.offset + passed, work.length - passed, work.skip)
    return _job(work.snapshot, payload, rest_label(rest[0].path, len(rest)), sum(entry.size for entry in rest), own)


def _job(snapshot: str, payload: SummarizePayload, label: str, size: int, own: str) -> NewJob:
    """Return the job of a batch; `own` is the key of the names in a project's own rules, and of the flags of files."""
    return batch_job(STAGE, snapshot, payload, label=label, weight=size, made_by=(loaded_flow(), own))
