"""Trace data flow through the summaries of a batch, and into the files that export the functions called there.

The cached result of a file is valid while its summary and the meanings of all names that it looked up are unchanged; a
file with a valid result is not analyzed again. Comments are read from the file itself each time, since summaries do not
contain them.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from jarvis_workers.dataflow import FileAnalysis, FlowHit, FlowResult
from jarvis_workers.dataflow.calls.function_models import FunctionModels, function_models
from jarvis_workers.dataflow.calls.taint_rules import TaintRule, taint_rule
from jarvis_workers.dataflow.file_analysis import FunctionGap
from jarvis_workers.errors import SnapshotDamaged
from jarvis_workers.paths import from_shown, shown
from jarvis_workers.pipeline.each_file import FileNotChecked, Task, each_file
from jarvis_workers.pipeline.history import (
    BatchWork,
    StageHistory,
    batch_job,
    range_of,
    read_result,
    rest_label,
    work_of,
)
from jarvis_workers.sec.rules.families.flow import HARMLESS
from jarvis_workers.sec.stages.build_flags import include_of, open_flags
from jarvis_workers.sec.stages.flow_cache import FlowCache, key_of_rules, loaded_flow, space
from jarvis_workers.sec.stages.flow_hits import FileFlowHits, Sources, judge_hits
from jarvis_workers.sec.stages.flow_rules import NOT_RUN, flow_patterns, function_gaps, meanings_of, taint_rows
from jarvis_workers.sec.stages.options import SecOptions
from jarvis_workers.sec.stages.payloads import FlowPayload, ModelBlobs
from jarvis_workers.sec.stages.results import CandidateResult
from jarvis_workers.sec.stages.summaries import Row, model_of, read_rows
from jarvis_workers.sec.stages.symbol_index import SymbolIndex, merge_names, open_names
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.snapshots.reader import open_snapshot
from jarvis_workers.snapshots.resources import Resources
from jarvis_workers.source.languages import is_test
from jarvis_workers.store.values import Claimed, Commit, NewJob

if TYPE_CHECKING:
    from jarvis_workers.store.session import Session
    from jarvis_workers.store.values import Run

STAGE = "flow"
# Above this size, the lookup of names takes too long in a parent process that serves other children.
RECALL_BYTES = 32_000_000


@dataclass(frozen=True, kw_only=True)
class FlowWork(BatchWork, FlowPayload):
    """A batch of summaries to analyze."""


read_work = FlowWork.decode


class Traced(NamedTuple):
    """The result of a file, and the names that it looked up in addition to the calls in its row.

    `stopped` is why the analysis did not end by itself; such a result depends on the machine, and is not cached.
    """

    result: FlowResult
    beyond: tuple[str, ...]
    stopped: str | None = None


Outcome = Traced | FileNotChecked


def plan_on(run: "Run", blobs: Blobs, earlier: StageHistory) -> Iterator[NewJob]:
    """Merge the exports of all batches, and yield a job per batch with a summary."""
    done = sorted((job for job in earlier.outcomes("summarize") if job.state == "done"), key=range_of)
    result = [(job, ModelBlobs.of(read_result(blobs, job.result).blobs)) for job in done]
    made = [(job, models) for job, models in result if models]
    if not made:
        return
    options = SecOptions.of(run)
    names = merge_names(blobs, [(one.models, one.index) for _, one in made], earlier.put)
    for job, one in made:
        payload = FlowPayload(*range_of(job), one.models, one.index, names)
        made_by = options.rules.blob, options.build
        yield _job(run.snapshot_id, made_by, payload, job.label, job.weight)


def load(_: "Session", run: "Run", job: Claimed) -> FlowWork:
    """Return the batch of a job."""
    options = SecOptions.of(run)
    return work_of(FlowWork, run, job, rules=options.rules.blob, build_flags=options.build)


def recall(work: FlowWork, resources: Resources) -> Commit | None:
    """Return the commit of a batch whose results are all cached and valid, or None."""
    if not (work.cache and resources.cache):
        return None
    blobs = resources.blobs
    names = open_names(blobs, work.names)
    if names.bytes > RECALL_BYTES:
        return None
    rows = read_rows(blobs, work.index)[work.first :]
    cached = _recall(work, resources, rows, names)
    if any(_key(row) not in cached for row in rows):
        return None
    return _commit(work, blobs, rows, cached)._replace(cached=len(rows))


def decide(work: FlowWork, resources: Resources) -> Commit:
    """Analyze the summaries without cached results; a summary that exceeds a limit does not affect the others."""
    blobs = resources.blobs
    names = open_names(blobs, work.names)
    rows = read_rows(blobs, work.index)[work.first :]
    recalled = _recall(work, resources, rows, names)
    todo: dict[str, Row] = {}
    for row in rows:
        if _key(row) not in recalled:
            todo.setdefault(_key(row), row)
    own = [taint_rule(row) for row in taint_rows(blobs, work.rules)]
    tracer = _Tracer(work, blobs, names, own, function_models(taint_rows(blobs, work.rules, "model")))
    task: Task[Row, Traced] = Task(tracer.trace, list, _from_json, rescue=tracer.rescue)
    fresh = each_file(todo, task, work.limits, careful=work.careful)
    _remember(work, resources, rows, fresh, names)
    outcomes: dict[str, Outcome] = {**recalled, **fresh}
    reached = next((at for at, row in enumerate(rows) if _key(row) not in outcomes), len(rows))
    done, rest = rows[:reached], rows[reached:]
    commit = _commit(work, blobs, done, outcomes)
    children = (_rest(work, len(done), rest),) if rest else ()
    return commit._replace(cached=sum(_key(row) in recalled for row in done), children=children)


class _Tracer:
    """Analyzes one file after the other; what is known of a file whose analysis is stopped is kept."""

    def __init__(
        self, work: FlowWork, blobs: Blobs, names: SymbolIndex, own: Sequence[TaintRule], models: FunctionModels
    ) -> None:
        self._work, self._blobs, self._names, self._own, self._models = work, blobs, names, own, models
        self._analysis: FileAnalysis | None = None

    def trace(self, row: Row) -> Traced:
        self._analysis = None
        lookups: set[str] = set()
        place, test = shown(row.path), is_test(row.path)
        include = include_of(place, open_flags(self._blobs, self._work.build_flags).of(place))

        def lookup(name: str, /, *, near: str | None = None) -> Sequence[tuple[str, Any]]:
            lookups.add(name)
            beside = row.path if near is None else from_shown(near)
            return self._names.lookup(name, near=beside, tests=test, include=include)

        model = model_of(self._blobs, self._work.models, row)
        self._analysis = FileAnalysis(model, lookup, test=test, rules=self._own, models=self._models)
        return Traced(self._analysis.run(), tuple(sorted(lookups.difference(row.calls))))

    def rescue(self, reason: str) -> Traced | None:
        """Return the results of the file whose analysis was stopped; None if it had not begun."""
        return Traced(self._analysis.stopped(reason), (), reason) if self._analysis is not None else None


def _commit(work: FlowWork, blobs: Blobs, rows: Sequence[Row], outcomes: Mapping[str, Outcome]) -> Commit:
    on = flow_patterns(blobs, work.rules)
    lost: list[tuple[bytes, str]] = []
    judged: list[FileFlowHits] = []
    with open_snapshot(blobs, work.snapshot) as reader:
        sources = Sources(reader, work.offset, work.length)
        for row in rows:
            traced = outcomes[_key(row)]
            if isinstance(traced, FileNotChecked):
                lost.append((row.path, NOT_RUN + traced.reason))
                continue
            if traced.result.gaps:
                lost.append((row.path, function_gaps(traced.result.gaps)))
            hits = [hit for hit in traced.result.hits if hit.pattern in on or hit.pattern in HARMLESS]
            try:
                judged += [judge_hits(row.path, sources.read(row.path), hits)] if hits else []
            except SnapshotDamaged as problem:
                lost.append((row.path, NOT_RUN + str(problem)))
    checked = [row for row in rows if isinstance(outcomes[_key(row)], Traced)]
    spots = tuple(chain.from_iterable(one.spots for one in judged))
    return Commit(
        files=len(checked),
        size=sum(row.size for row in checked),
        results=(CandidateResult(spots, meanings_of(taint_rows(blobs, work.rules), spots)),),
        not_checked=tuple(lost),
        remarks=tuple(chain.from_iterable(one.remarks for one in judged)),
    )


def _recall(work: FlowWork, resources: Resources, rows: Sequence[Row], names: SymbolIndex) -> dict[str, Traced]:
    """Return the cached results that are still valid: those of the same index, or of one with the same answers.

    All names needed are looked up at once.
    """
    cached = _results(work, resources).find([(_key(row), row.path) for row in rows])
    traced = {key: _from_json(flows) for key, (flows, _, _) in cached.items()}
    doubtful = [row for row in rows if _key(row) in traced and cached[_key(row)][2] != work.names]
    names.fetch(chain(*((*row.calls, *traced[_key(row)].beyond) for row in doubtful)))
    for row in doubtful:
        key = _key(row)
        if key in traced and _answers(row.calls, traced[key], names) != cached[key][1]:
            del traced[key]
    return traced


def _remember(
    work: FlowWork, resources: Resources, rows: Sequence[Row], fresh: Mapping[str, Outcome], names: SymbolIndex
) -> None:
    calls = {_key(row): row.calls for row in rows}
    values = {
        key: [flows, _answers(calls[key], flows, names), work.names]
        for key, flows in fresh.items()
        if isinstance(flows, Traced) and flows.stopped is None
    }
    _results(work, resources).put([(_key(row), row.path) for row in rows], values)


def _answers(calls: Sequence[str], flows: Traced, names: SymbolIndex) -> str:
    return names.answers((*calls, *flows.beyond))


def _results(work: FlowWork, resources: Resources) -> FlowCache:
    rows = (*taint_rows(resources.blobs, work.rules), *taint_rows(resources.blobs, work.rules, "model"))
    own = key_of_rules(rows)
    return FlowCache(resources.cache if work.cache else None, space(STAGE, own=own + (work.build_flags or "")))


def _from_json(row: Sequence[Any]) -> Traced:
    (hits, gaps), beyond, stopped = row
    result = FlowResult(tuple(_hit(*hit) for hit in hits), tuple(FunctionGap(*gap) for gap in gaps))
    return Traced(result, tuple(beyond), stopped)


def _hit(pattern: str, line: int, confidence: float, evidence: str, steps: Sequence[Any]) -> FlowHit:
    return FlowHit(pattern, line, confidence, evidence, tuple((file, at, note) for file, at, note in steps))


def _key(row: Row) -> str:
    """Return a cache key that covers all inputs except the meanings of names, whose lookup depends on the directory."""
    place = hashlib.sha256(row.path.rpartition(b"/")[0]).hexdigest()[:8]
    return f"{row.key}{'t' if is_test(row.path) else '-'}{place}"


def _rest(work: FlowWork, done: int, rest: Sequence[Row]) -> NewJob:
    """Return a job for the files left when the time was up."""
    payload = FlowPayload(work.offset, work.length, work.models, work.index, work.names, work.first + done)
    label, size = rest_label(rest[0].path, len(rest)), sum(row.size for row in rest)
    return _job(work.snapshot, (work.rules, work.build_flags), payload, label, size)


def _job(snapshot: str, made_by: tuple[str | None, str | None], payload: FlowPayload, label: str, size: int) -> NewJob:
    return batch_job(STAGE, snapshot, payload, label=label, weight=size, made_by=(loaded_flow(), *made_by))
