"""The metrics of the store, as a collector of prometheus_client.

They are gauges: sums over the runs that the store holds, which fall when runs are pruned. Each reading is cached for
five seconds, and longer if it took long. If the store does not respond, the only metric is `jarvis_store_up 0`.
"""

import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from jarvis_workers import telemetry
from jarvis_workers.errors import StoreError
from jarvis_workers.sec.runs.scan_runs import has_findings
from jarvis_workers.sec.severity import SEVERITIES
from jarvis_workers.sec.stages.options import SecOptions
from jarvis_workers.sec.store import verdicts
from jarvis_workers.store import metric_queries as queries
from jarvis_workers.store.engine import Store
from jarvis_workers.store.metric_queries import JobCount, ModelSum
from jarvis_workers.store.values import JOB_STATES

# Read everything that the metrics of the store show, within a bounded time.

COUNTING_SECONDS = 1.0
# Providers answer with any name; those beyond the first are summed as one.
MODELS_MAX = 50
OTHER = "other"


@dataclass(frozen=True, slots=True)
class StoreReading:
    """The state of the store at one time; `findings` are by kind of run and severity, `seconds` the time it took.

    `scan_kinds` are the kinds with a complete scan that has been counted: without one, no number of findings is known.
    """

    jobs: Sequence[queries.JobCount]
    queues: Sequence[queries.QueueDepth]
    runs: Sequence[queries.RunCount]
    models: Sequence[queries.ModelSum]
    workers: Sequence[queries.WorkerCount]
    findings: Mapping[tuple[str, str], int]
    scan_kinds: frozenset[str]
    expired_leases: int
    crashed_jobs: int
    controller_seconds: float
    seconds: float


@dataclass
class StoreReader:
    """Reads the store repeatedly; a worker silent for `lease_seconds` counts as gone."""

    lease_seconds: float
    clock: Callable[[], float] = time.monotonic
    _counted: dict[tuple[str, float], Counter[tuple[str, str]]] = field(default_factory=dict)
    _complete: set[tuple[str, tuple[str, float]]] = field(default_factory=set)

    def read(self, store: Store) -> StoreReading:
        """Return the state of the store. Raises StoreError."""
        began = self.clock()
        with store.read() as session:
            jobs, queues = queries.job_counts(session), queries.queue_depths(session)
            runs, models = queries.run_counts(session), queries.model_sums(session)
            workers = queries.worker_counts(session, self.lease_seconds)
            expired, crashed = queries.expired_leases(session), queries.crashed_jobs(session)
            controller = queries.controller_seconds(session)
        self._count(store)
        return StoreReading(
            jobs=jobs,
            queues=queues,
            runs=runs,
            models=merge_rare(models),
            workers=workers,
            findings=sum(self._counted.values(), Counter[tuple[str, str]]()),
            scan_kinds=frozenset(kind for kind, _ in self._complete),
            expired_leases=expired,
            crashed_jobs=crashed,
            controller_seconds=controller,
            seconds=self.clock() - began,
        )

    def _count(self, store: Store) -> None:
        give_up = self.clock() + COUNTING_SECONDS
        with store.read() as session:
            runs = [run for run in queries.ended_runs(session) if has_findings(run.kind)]
        ended = {(run.id, run.ended_at): run for run in runs}
        self._counted = {key: candidate for key, candidate in self._counted.items() if key in ended}
        for key in ended.keys() - self._counted.keys():
            if self.clock() >= give_up:
                break
            with store.read() as session:
                self._counted[key] = _by_severity(ended[key], verdicts.finding_counts(session, key[0]))
        self._complete = {(run.kind, key) for key, run in ended.items() if key in self._counted and run.state == "done"}


def merge_rare(models: Sequence[queries.ModelSum]) -> list[queries.ModelSum]:
    """Return at most MODELS_MAX models; the usage of all others is that of a model OTHER."""
    names = list(dict.fromkeys(one.model for one in models))
    rare = set(names[MODELS_MAX:])
    merged = [one for one in models if one.model not in rare]
    for cached in (False, True):
        others = [one for one in models if one.model in rare and one.cached is cached]
        if others:
            calls, prompt, cached_prompt, completion = (
                sum(one) for one in zip(*(m[2:-1] for m in others), strict=True)
            )
            costs = [one.cost for one in others if one.cost is not None]
            cost = sum(costs) if len(costs) == len(others) else None
            merged.append(queries.ModelSum(OTHER, cached, calls, prompt, cached_prompt, completion, cost))
    return merged


def _by_severity(run: queries.EndedRun, found: Iterable[verdicts.FindingCount]) -> Counter[tuple[str, str]]:
    """Count the findings of a run under its own severities and threshold of confidence."""
    options = SecOptions.decode(json.loads(run.options))
    result = Counter[tuple[str, str]]()
    for one in found:
        if one.confidence >= options.min_confidence:
            result[run.kind, one.severity_under(options.rules.severity)] += one.findings
    return result


CACHE_SECONDS = 5.0
# A reading is used for at least this multiple of the time that it took, so that it costs the database little.
CACHE_FACTOR = 10

Sample = tuple[tuple[str, ...], float]


class StoreMetric(NamedTuple):
    """A metric of the store: its name, meaning, labels, and its samples in a reading."""

    name: str
    meaning: str
    labels: tuple[str, ...]
    samples: Callable[[StoreReading], Iterable[Sample]]


def _tokens(one: ModelSum) -> Iterator[Sample]:
    """Yield the tokens of calls that were paid for; those of the provider's own cache are part of the prompt."""
    if not one.cached:
        yield (one.model, "prompt"), one.prompt
        yield (one.model, "prompt_cached"), one.prompt_cached
        yield (one.model, "completion"), one.completion


def _in_all_states(counts: Iterable[JobCount]) -> Iterator[Sample]:
    """Yield a sample for every state of a stage: alerts compare it with an earlier one, which must exist."""
    jobs = {(one.kind, one.stage, one.state): one.jobs for one in counts}
    for kind, stage in sorted({(kind, stage) for kind, stage, _ in jobs}):
        for state in JOB_STATES:
            yield (kind, stage, state), jobs.get((kind, stage, state), 0)


UP = ("jarvis_store_up", "Whether the results store responds: 1 or 0.")
METRICS = (
    StoreMetric(
        "jarvis_store_read_seconds",
        "Duration of the last read of these metrics.",
        (),
        lambda read: [((), read.seconds)],
    ),
    StoreMetric(
        "jarvis_jobs",
        "Jobs of the runs in the store.",
        ("kind", "stage", "state"),
        lambda read: _in_all_states(read.jobs),
    ),
    StoreMetric(
        "jarvis_queue_waiting_jobs",
        "Jobs of active runs on the cluster that no worker has claimed.",
        ("queue",),
        lambda read: [((one.queue,), one.waiting) for one in read.queues],
    ),
    StoreMetric(
        "jarvis_queue_running_jobs",
        "Jobs of active runs on the cluster that a worker has claimed.",
        ("queue",),
        lambda read: [((one.queue,), one.running) for one in read.queues],
    ),
    StoreMetric(
        "jarvis_queue_backlog_jobs",
        "Waiting and running jobs: the number that autoscalers use.",
        ("queue",),
        lambda read: [((one.queue,), one.backlog) for one in read.queues],
    ),
    StoreMetric(
        "jarvis_queue_oldest_waiting_seconds",
        "Time since the oldest waiting job became due; 0 if no job waits.",
        ("queue",),
        lambda read: [((one.queue,), one.oldest_seconds) for one in read.queues],
    ),
    StoreMetric(
        "jarvis_queue_workers",
        'Live worker pools by queue; "local" counts waiting commands.',
        ("queue",),
        lambda read: [((one.queue,), one.workers) for one in read.workers],
    ),
    StoreMetric(
        "jarvis_queue_slots",
        "Slots of the live pools: the number of jobs that can run at the same time.",
        ("queue",),
        lambda read: [((one.queue,), one.slots) for one in read.workers],
    ),
    StoreMetric(
        "jarvis_expired_leases",
        "Running jobs whose lease has expired, and that no controller has recovered yet.",
        (),
        lambda read: [((), read.expired_leases)],
    ),
    StoreMetric(
        "jarvis_crashed_jobs",
        "Jobs that lost a process or a lease at least once.",
        (),
        lambda read: [((), read.crashed_jobs)],
    ),
    StoreMetric(
        "jarvis_controller_overdue_seconds",
        "Time since the controller's lease expired without renewal; 0 if it is held or was released.",
        (),
        lambda read: [((), read.controller_seconds)],
    ),
    StoreMetric(
        "jarvis_runs",
        "Runs in the store.",
        ("kind", "state"),
        lambda read: [((one.kind, one.state), one.runs) for one in read.runs],
    ),
    StoreMetric(
        "jarvis_budget_paused_runs",
        "Runs that are paused because their budget is spent.",
        (),
        lambda read: [((), sum(one.budget for one in read.runs))],
    ),
    StoreMetric(
        "jarvis_findings",
        "Findings of finished scans, without suppressed and dismissed ones.",
        ("kind", "severity"),
        lambda read: [
            ((kind, severity), read.findings.get((kind, severity), 0))
            for kind in sorted(read.scan_kinds | {kind for kind, _ in read.findings})
            for severity in SEVERITIES
        ],
    ),
    StoreMetric(
        "jarvis_model_calls",
        'Answers of models by source: "provider", or "cache" for cache hits.',
        ("model", "source"),
        lambda read: [((one.model, "cache" if one.cached else "provider"), one.calls) for one in read.models],
    ),
    StoreMetric(
        "jarvis_model_tokens",
        "Tokens of paid calls: prompt, prompt_cached (the part that the provider had cached), completion.",
        ("model", "type"),
        lambda read: [sample for one in read.models for sample in _tokens(one)],
    ),
    StoreMetric(
        "jarvis_model_cost_dollars",
        "Cost of the calls, by the prices in the settings; absent without prices.",
        ("model",),
        lambda read: [((one.model,), one.cost) for one in read.models if not one.cached and one.cost is not None],
    ),
)


class StoreCollector(Collector):
    """Collects METRICS; `open_store` is called at the first scrape, and again as long as it raises StoreError."""

    def __init__(
        self, open_store: Callable[[], Store], lease_seconds: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._open, self._clock = open_store, clock
        self._reader = StoreReader(lease_seconds, clock)
        self._store: Store | None = None
        self._lock = threading.Lock()
        self._reading: StoreReading | None = None
        self._until = clock()

    def describe(self) -> Iterable[GaugeMetricFamily]:
        """Return nothing: registering the collector must not require the store."""
        return ()

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Yield the metrics of the last reading, or of a new one."""
        with self._lock:
            if self._clock() >= self._until:
                self._refresh()
            reading = self._reading
        yield GaugeMetricFamily(*UP, value=0.0 if reading is None else 1.0)
        if reading is not None:
            yield from (_family(metric, reading) for metric in METRICS)

    def close(self) -> None:
        """Close the store."""
        with self._lock:
            if self._store:
                self._store.close()

    def _refresh(self) -> None:
        try:
            self._store = self._store or self._open()
            self._reading = self._reader.read(self._store)
        except StoreError as error:
            if self._reading or self._store is None:
                telemetry.warning("store does not respond", says=str(error))
            self._reading = None
        seconds = self._reading.seconds if self._reading else 0.0
        self._until = self._clock() + max(CACHE_SECONDS, CACHE_FACTOR * seconds)


def _family(metric: StoreMetric, reading: StoreReading) -> GaugeMetricFamily:
    family = GaugeMetricFamily(metric.name, metric.meaning, labels=metric.labels)
    for labels, value in metric.samples(reading):
        family.add_metric(labels, value)
    return family
