"""Export spans over OTLP/HTTP with the OpenTelemetry SDK, configured by its environment variables."""

import logging
import os
import threading

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import PROCESS_PID, SERVICE_NAME, SERVICE_VERSION, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.id_generator import IdGenerator, RandomIdGenerator
from opentelemetry.sdk.trace.sampling import Decision
from opentelemetry.trace import (
    NonRecordingSpan,
    SpanContext,
    SpanKind,
    Status,
    StatusCode,
    TraceFlags,
    set_span_in_context,
)

from jarvis_workers import __version__
from jarvis_workers.executors.dispatch.spans import ERROR, EndedSpan

SERVICE = "jarvis-workers"
SERVICE_NAME_VARIABLE = "OTEL_SERVICE_NAME"
# A collector that does not respond delays the end of a process by at most this many seconds.
LAST_SECONDS = 2.0
NANOSECONDS = 1_000_000_000


class GivenIds(IdGenerator):
    """Returns the ids that were set for the next span of this thread, else random ones."""

    def __init__(self) -> None:
        self.next = threading.local()
        self._random = RandomIdGenerator()

    def generate_span_id(self) -> int:
        """Return the id of the next span."""
        return getattr(self.next, "span", None) or self._random.generate_span_id()

    def generate_trace_id(self) -> int:
        """Return the id of the trace of the next span, if it is the root."""
        return getattr(self.next, "trace", None) or self._random.generate_trace_id()


class SpanExport:
    """Exports the spans of one process in the background."""

    def __init__(self) -> None:
        names = {} if os.environ.get(SERVICE_NAME_VARIABLE) else {SERVICE_NAME: SERVICE}
        resource = Resource.create({**names, SERVICE_VERSION: __version__, PROCESS_PID: os.getpid()})
        # One line per lost batch, instead of one per attempt to send it.
        logging.getLogger("opentelemetry.exporter").setLevel(logging.ERROR)
        self._ids = GivenIds()
        self._provider = TracerProvider(resource=resource, id_generator=self._ids, shutdown_on_exit=False)
        self._provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
        self._tracer = self._provider.get_tracer(SERVICE, __version__)

    def record(self, span: EndedSpan, trace_id: int) -> None:
        """Queue a span for export; when the queue is full, it is dropped."""
        self._ids.next.span, self._ids.next.trace = span.id, trace_id
        begin = int(span.began * NANOSECONDS)
        # Root and children of a run have the same sampling decision, which depends on the trace id alone.
        decision = self._provider.sampler.should_sample(None, trace_id, span.name).decision
        sampled, parent = decision is Decision.RECORD_AND_SAMPLE, None
        if span.parent is not None:
            flags = TraceFlags(TraceFlags.SAMPLED if sampled else TraceFlags.DEFAULT)
            context = SpanContext(trace_id, span.parent, is_remote=True, trace_flags=flags)
            parent = set_span_in_context(NonRecordingSpan(context))
        kind, errors = SpanKind[span.kind.upper()], {ERROR: span.error} if span.error else {}
        made = self._tracer.start_span(
            span.name, context=parent, kind=kind, attributes={**span.attributes, **errors}, start_time=begin
        )
        if span.error:
            made.set_status(Status(StatusCode.ERROR))
        made.end(begin + int(span.seconds * NANOSECONDS))

    def close(self) -> None:
        """Export the queued spans, for at most LAST_SECONDS."""
        thread = threading.Thread(target=self._provider.shutdown, daemon=True, name="traces")
        thread.start()
        thread.join(LAST_SECONDS)
