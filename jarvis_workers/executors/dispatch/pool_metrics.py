"""The metrics of a pool process, in prometheus_client's multiprocess mode; docs/metrics.md lists them.

Each process has its own files of counters in a directory; the supervisor's endpoint sums them. Imported only by pools
whose worker serves metrics; `PoolMetrics.start` must be called before anything else imports prometheus_client, which
decides at its import whether values are in files.
"""

import os
from typing import TYPE_CHECKING, Self

from jarvis_workers.agents.conversations.observer import JobExecution, ObservedCall, Observer
from jarvis_workers.store.values import Claimed

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

DIRECTORY = "PROMETHEUS_MULTIPROC_DIR"
JOB_SECONDS = (0.1, 0.5, 1.0, 2.5, 5.0, 15.0, 60.0, 300.0, 900.0, 3600.0)
CALL_SECONDS = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0)


class PoolMetrics(Observer):
    """The metrics of the jobs of this process. Labels have few values: queues, stages, configured models."""

    def __init__(self) -> None:
        from prometheus_client import CollectorRegistry  # noqa: PLC0415  (see above)

        where = CollectorRegistry()
        self._count_jobs(where)
        self._count_models(where)

    def _count_jobs(self, where: "CollectorRegistry") -> None:
        from prometheus_client import Counter, Gauge, Histogram  # noqa: PLC0415  (see above)

        job = ("queue", "stage")
        jobs = "Executions of jobs by outcome: done, failed, released, lost."
        self._jobs = Counter("jarvis_worker_jobs_total", jobs, (*job, "outcome"), registry=where)
        took = "Duration of executions, regardless of their outcome."
        self._job_seconds = Histogram("jarvis_worker_job_seconds", took, job, buckets=JOB_SECONDS, registry=where)
        read = "Source bytes processed by jobs that are done."
        self._bytes = Counter("jarvis_worker_source_bytes_total", read, job, registry=where)
        flight = "Conversations in flight."
        self._conversations = Gauge("jarvis_worker_conversations", flight, registry=where, multiprocess_mode="livesum")

    def _count_models(self, where: "CollectorRegistry") -> None:
        from prometheus_client import Counter, Histogram  # noqa: PLC0415  (see above)

        model = ("model",)
        calls = "Model calls by outcome: answered, cached, failed."
        self._calls = Counter("jarvis_worker_model_calls_total", calls, (*model, "outcome"), registry=where)
        took = "Duration of answered calls, with waits for the rate limiter and retries."
        name = "jarvis_worker_model_call_seconds"
        self._call_seconds = Histogram(name, took, model, buckets=CALL_SECONDS, registry=where)
        tokens = "Tokens of answered calls: prompt, prompt_cached, completion."
        self._tokens = Counter("jarvis_worker_model_tokens_total", tokens, (*model, "type"), registry=where)
        cost = "Cost of answered calls; absent without prices."
        self._cost = Counter("jarvis_worker_model_cost_dollars_total", cost, model, registry=where)
        refused = "Requests throttled by the provider (HTTP 429 or 529)."
        self._throttled = Counter("jarvis_worker_throttled_requests_total", refused, model, registry=where)

    @classmethod
    def start(cls, directory: str) -> Self:
        """Start to count events in files of this process in a directory."""
        os.environ[DIRECTORY] = directory
        return cls()

    def job_ended(self, execution: JobExecution) -> None:
        queue, stage = execution.job.queue, execution.job.stage
        self._jobs.labels(queue, stage, execution.outcome).inc()
        self._job_seconds.labels(queue, stage).observe(execution.seconds)
        if execution.outcome == "done":
            self._bytes.labels(queue, stage).inc(execution.size)

    def conversation_opened(self, job: Claimed) -> None:
        self._conversations.inc()

    def conversation_closed(self, job: Claimed) -> None:
        self._conversations.dec()

    def model_called(self, call: ObservedCall) -> None:
        self._calls.labels(call.model, call.outcome).inc()
        # A model that has never been throttled is exported with a rate of 0.
        self._throttled.labels(call.model)
        if call.outcome != "answered":
            return
        self._call_seconds.labels(call.model).observe(call.seconds)
        used = {"prompt": call.usage.prompt, "prompt_cached": call.usage.cached, "completion": call.usage.completion}
        for kind, tokens in used.items():
            self._tokens.labels(call.model, kind).inc(tokens)
        if call.cost is not None:
            self._cost.labels(call.model).inc(call.cost)

    def throttled(self, model: str) -> None:
        self._throttled.labels(model).inc()
