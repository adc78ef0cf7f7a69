"""Traces arrive at a real receiver as one tree per run, whichever process recorded its spans."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from jarvis_workers.agents.conversations.observer import JobExecution, ObservedCall, ToolExecution
from jarvis_workers.executors.dispatch.traces import ENDPOINT, TraceObserver, trace_environment, traced_submit
from jarvis_workers.models.platforms.protocol import TokenUsage
from jarvis_workers.store.values import Claimed
from tests.support.otlp import Receiver, otlp_receiver

JOB = Claimed(7, "r1", "verify", "verify", "agent", 2, "src/a.c copy", '{"code": "strcpy(secret)"}', 0, 0)
DOCS = Path(__file__).parents[3] / "docs/metrics.md"
CLIENT, PRODUCER, CONSUMER = 3, 4, 5


@pytest.fixture
def receiver(monkeypatch: pytest.MonkeyPatch) -> Iterator[Receiver]:
    with otlp_receiver() as receiver:
        monkeypatch.setenv(ENDPOINT, receiver.address)
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-tenant=scans")
        yield receiver


def work() -> None:
    """Record a job with a model call and a tool call, as a worker does."""
    observer = TraceObserver()
    usage = TokenUsage(prompt=100, completion=10)
    observer.model_called(
        ObservedCall(JOB, "openai", "large", "answered", 11.0, 2.0, usage, 0.5, "large-2026", "tool_calls")
    )
    observer.tool_called(ToolExecution(JOB, "read_code", "done", 13.0, 0.5))
    observer.model_called(ObservedCall(JOB, "openai", "large", "failed", 14.0, 1.0, error="ModelRefused"))
    observer.job_ended(JobExecution(JOB, "failed", 10.0, 6.0))
    observer.close()


def test_submit_job_and_calls_are_one_tree(receiver: Receiver) -> None:
    with traced_submit("r1", "sec.agent"):
        pass
    work()

    (root,), (job,) = receiver.named("submit"), receiver.named("verify")
    answered, failed = sorted(receiver.named("chat large"), key=lambda span: span.start)
    (tool,) = receiver.named("execute_tool read_code")
    assert {span.trace for span in receiver.spans} == {root.trace}
    assert (root.parent, job.parent) == ("", root.id)
    assert {answered.parent, failed.parent, tool.parent} == {job.id}
    assert (root.kind, job.kind, answered.kind) == (PRODUCER, CONSUMER, CLIENT)
    assert (job.start, job.end, answered.start, answered.end) == (10.0, 16.0, 11.0, 13.0)
    assert (job.is_error, answered.is_error, failed.is_error) == (True, False, True)
    assert receiver.headers[0]["x-tenant"] == "scans"


def test_attributes_are_those_of_the_conventions_without_any_content(receiver: Receiver) -> None:
    work()

    (answered,) = [span for span in receiver.named("chat large") if not span.is_error]
    (failed,) = [span for span in receiver.named("chat large") if span.is_error]
    (job,), (tool,) = receiver.named("verify"), receiver.named("execute_tool read_code")
    assert answered.attributes == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "large",
        "gen_ai.response.model": "large-2026",
        "gen_ai.response.finish_reasons": ["tool_calls"],
        "gen_ai.usage.input_tokens": 100,
        "gen_ai.usage.output_tokens": 10,
        "jarvis.model.cached": False,
        "jarvis.model.cost_dollars": 0.5,
    }
    assert failed.attributes["error.type"] == "ModelRefused"
    assert tool.attributes == {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "read_code"}
    assert (job.attributes["jarvis.stage"], job.attributes["jarvis.job.label"]) == ("verify", "src/a.c copy")
    assert job.resource["service.name"] == "jarvis-workers"
    assert not any(b"strcpy" in body for body in receiver.raw)


def test_every_attribute_is_documented(receiver: Receiver) -> None:
    with traced_submit("r1", "sec.agent"):
        pass
    work()

    exported = {name for span in receiver.spans for name in span.attributes}
    text = DOCS.read_text().partition("\n## Traces\n")[2]
    assert exported == set(re.findall(r"`((?:jarvis|gen_ai|error)\.[\w.]+)`", text))


def test_other_executions_of_a_job_are_other_spans(receiver: Receiver) -> None:
    for fence in (1, 2):
        observer = TraceObserver()
        observer.job_ended(JobExecution(JOB._replace(fence=fence), "done", 10.0, 1.0))
        observer.close()

    assert len({span.id for span in receiver.spans}) == 2


def test_a_submit_that_fails_is_an_error(receiver: Receiver) -> None:
    with pytest.raises(FileNotFoundError), traced_submit("r1", "sec.fast"):
        raise FileNotFoundError

    (root,) = receiver.spans
    assert (root.is_error, root.attributes["error.type"]) == (True, "FileNotFoundError")


def test_the_sampling_rate_decides_on_whole_traces(receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_TRACES_SAMPLER", "parentbased_traceidratio")
    monkeypatch.setenv("OTEL_TRACES_SAMPLER_ARG", "0.5")
    observer = TraceObserver()
    for number in range(20):
        job = JOB._replace(run_id=f"r{number}")
        observer.tool_called(ToolExecution(job, "read_code", "done", 13.0, 0.5))
        observer.job_ended(JobExecution(job, "done", 10.0, 6.0))
    observer.close()

    jobs, tools = receiver.named("verify"), receiver.named("execute_tool read_code")
    assert {span.trace for span in jobs} == {span.trace for span in tools}
    assert 0 < len(jobs) < 20


@pytest.mark.slow
def test_a_collector_that_is_away_costs_little(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ENDPOINT, "http://127.0.0.1:9")
    work()


def test_only_with_an_endpoint_the_variables_are_passed_on() -> None:
    others = {"OTEL_SERVICE_NAME": "scans", "PATH": "/bin"}

    assert trace_environment(others) == {}
    assert trace_environment({**others, ENDPOINT: "http://c"}) == {"OTEL_SERVICE_NAME": "scans", ENDPOINT: "http://c"}


@pytest.mark.slow
def test_workers_and_submits_import_neither_client_unless_they_are_on() -> None:
    code = """
import sys
import jarvis_workers.executors.dispatch.pool, jarvis_workers.runs.remote, jarvis_workers.operate.worker
clients = ("opentelemetry.sdk.trace", "opentelemetry.exporter", "prometheus_client")
sys.exit(any(name in sys.modules for name in clients))
"""
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
