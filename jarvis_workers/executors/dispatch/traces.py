"""OpenTelemetry traces of runs on workers: submit, jobs, model calls, tool calls.

The ids of spans derive from the ids of run, job and execution, so that processes agree on them without
communication: no message and no row contains them. Spans are recorded when they have ended, and exported in the
background. OpenTelemetry is imported only if its environment variable ENDPOINT is set.
"""

import os
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from time import monotonic, time
from typing import TYPE_CHECKING, Any

from jarvis_workers.agents.conversations.observer import JobExecution, ObservedCall, Observer, ToolExecution
from jarvis_workers.executors.dispatch.spans import EndedSpan
from jarvis_workers.extras import MODULES, is_installed
from jarvis_workers.paths import plain
from jarvis_workers.pipeline.stages import PLAN
from jarvis_workers.store.values import Claimed

if TYPE_CHECKING:
    from jarvis_workers.executors.dispatch.trace_export import SpanExport

ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"
PREFIX = "OTEL_"
# The names of attributes: semantic conventions 1.37 of OpenTelemetry for generative AI, and our own.
OPERATION, PROVIDER = "gen_ai.operation.name", "gen_ai.provider.name"
MODEL, ANSWERED_BY, FINISH = "gen_ai.request.model", "gen_ai.response.model", "gen_ai.response.finish_reasons"
INPUT_TOKENS, OUTPUT_TOKENS = "gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens"
TOOL = "gen_ai.tool.name"
RUN, KIND, JOB, EXECUTION = "jarvis.run.id", "jarvis.run.kind", "jarvis.job.id", "jarvis.job.execution"
QUEUE, STAGE, LABEL, OUTCOME = "jarvis.queue", "jarvis.stage", "jarvis.job.label", "jarvis.job.outcome"
CACHED, COST = "jarvis.model.cached", "jarvis.model.cost_dollars"


def trace_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that configure the export, none if tracing is disabled."""
    return {name: environ[name] for name in environ if name.startswith(PREFIX)} if environ.get(ENDPOINT) else {}


def trace_id(run_id: str) -> int:
    """Return the trace id of a run: 128 bits."""
    return _derived(16, "run", run_id)


def submit_span_id(run_id: str) -> int:
    """Return the id of the root span of a run: 64 bits."""
    return _derived(8, "submit", run_id)


def job_span_id(job: Claimed) -> int:
    """Return the id of the span of an execution of a job: 64 bits."""
    return _derived(8, "job", job.run_id, str(job.id), str(job.fence))


@contextmanager
def traced_submit(run_id: str, kind: str) -> Iterator[None]:
    """Record the block as the root span of a run, if tracing is enabled and installed."""
    if not os.environ.get(ENDPOINT) or not is_installed(MODULES["traces"][0]):
        yield
        return
    tracer = TraceObserver()
    began, start = time(), monotonic()
    try:
        yield
    finally:
        error = type(raised).__name__ if (raised := sys.exception()) else ""
        about = {RUN: run_id, KIND: kind}
        seconds = monotonic() - start
        tracer.record(
            EndedSpan(run_id, "submit", began, seconds, about, "producer", submit_span_id(run_id), error=error)
        )
        tracer.close()


class TraceObserver(Observer):
    """Records the spans of a process. Each prefork process exports its own: the exporter starts at first use."""

    def __init__(self) -> None:
        self._exports: dict[int, SpanExport] = {}
        self._lock = threading.Lock()

    def record(self, span: EndedSpan) -> None:
        """Record a span."""
        self._export().record(span, trace_id(span.run_id))

    def job_ended(self, execution: JobExecution) -> None:
        job = execution.job
        about = {
            RUN: job.run_id,
            JOB: job.id,
            EXECUTION: job.fence,
            QUEUE: job.queue,
            STAGE: job.stage,
            LABEL: plain(job.label),
            OUTCOME: execution.outcome,
        }
        name = f"{PLAN} {job.stage}" if job.step == PLAN else job.stage
        error = "" if execution.outcome == "done" else execution.outcome
        ids = {"id": job_span_id(job), "parent": submit_span_id(job.run_id)}
        self.record(
            EndedSpan(job.run_id, name, execution.began, execution.seconds, about, "consumer", **ids, error=error)
        )

    def model_called(self, call: ObservedCall) -> None:
        about: dict[str, Any] = {
            OPERATION: "chat",
            PROVIDER: call.platform,
            MODEL: call.model,
            CACHED: call.outcome == "cached",
        }
        if call.outcome != "failed":
            about |= {
                ANSWERED_BY: call.answered_by,
                FINISH: (call.finish,),
                INPUT_TOKENS: call.usage.prompt,
                OUTPUT_TOKENS: call.usage.completion,
            }
            about |= {} if call.cost is None else {COST: call.cost}
        name, parent = f"chat {call.model}", job_span_id(call.job)
        self.record(
            EndedSpan(call.job.run_id, name, call.began, call.seconds, about, "client", parent=parent, error=call.error)
        )

    def tool_called(self, execution: ToolExecution) -> None:
        about = {OPERATION: "execute_tool", TOOL: execution.tool}
        error = "" if execution.state == "done" else execution.state
        name, parent = f"execute_tool {execution.tool}", job_span_id(execution.job)
        run_id = execution.job.run_id
        self.record(EndedSpan(run_id, name, execution.began, execution.seconds, about, parent=parent, error=error))

    def close(self) -> None:
        """Export the remaining spans, for a bounded time."""
        export = self._exports.pop(os.getpid(), None)
        if export:
            export.close()

    def _export(self) -> "SpanExport":
        from jarvis_workers.executors.dispatch.trace_export import SpanExport  # noqa: PLC0415  (an extra)

        with self._lock:
            if os.getpid() not in self._exports:
                self._exports = {os.getpid(): SpanExport()}
            return self._exports[os.getpid()]


def _derived(size: int, *parts: str) -> int:
    return int.from_bytes(sha256("\0".join(parts).encode()).digest()[:size], "big")
