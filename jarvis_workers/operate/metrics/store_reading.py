"""Read everything that the metrics of the store show, within a bounded time.

The numbers of findings of finished runs are cached, since a store may hold millions of findings.  Each scrape spends at
most COUNTING_SECONDS on runs that were not counted yet; later scrapes count the remaining ones.
"""

import json
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from jarvis_workers.sec.runs.scan_runs import has_findings
from jarvis_workers.sec.severity import severity_of
from jarvis_workers.sec.stages.options import SecOptions
from jarvis_workers.sec.store import verdicts
from jarvis_workers.store import metric_queries as queries
from jarvis_workers.store.engine import Store

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
                rules = verdicts.rule_counts(session, key[0])
            self._counted[key] = _by_severity(ended[key], rules)
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


def _by_severity(run: queries.EndedRun, rules: Sequence[verdicts.RuleCount]) -> Counter[tuple[str, str]]:
    """Count the findings of a run under its own severities and threshold of confidence."""
    options = SecOptions.decode(json.loads(run.options))
    result = Counter[tuple[str, str]]()
    for rule in rules:
        if rule.confidence >= options.min_confidence:
            result[run.kind, options.rules.severity.get(rule.pattern) or severity_of(rule.confidence)] += rule.findings
    return result
