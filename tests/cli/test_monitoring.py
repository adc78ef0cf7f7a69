"""A real Prometheus and a receiver of traces beside a real worker: what they see of two runs."""

import json
import subprocess
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
import yaml

from tests.agents.loop.server import Body, ModelServer, Step, fails
from tests.chaos.commands import until
from tests.cli.commands import COPY, SYSTEM, Jarvis
from tests.support.dashboards import ask, without_data
from tests.support.judging import judge
from tests.support.otlp import ReceivedSpan, Receiver, otlp_receiver
from tests.support.servers import Redis, free_port, missing, redis_server
from tests.support.settings_files import write_settings
from tests.test_alerts import ALERTS, CONFIG

SECONDS = 240.0
FILES = 6
API_KEY = "key-that-stays-here"


def prometheus_config(ports: dict[str, int]) -> str:
    """Return the configuration of compose with these ports as the targets of its jobs, scraped every second."""
    config = yaml.safe_load(CONFIG.read_text())
    assert ports.keys() <= {scraped["job_name"] for scraped in config["scrape_configs"]}
    config["global"] = {"scrape_interval": "1s", "evaluation_interval": "1s"}
    config["scrape_configs"] = [
        {"job_name": name, "static_configs": [{"targets": [f"127.0.0.1:{port}"]}]} for name, port in ports.items()
    ]
    return yaml.safe_dump(config)


@contextmanager
def prometheus(home: Path, ports: dict[str, int]) -> Iterator[str]:
    """Run a Prometheus with the project's configuration and alerts during the block, and yield its address."""
    (home / "prometheus.yml").write_text(prometheus_config(ports))
    (home / "alerts.yml").write_text(ALERTS.read_text())
    address = f"127.0.0.1:{free_port()}"
    options = ["--config.file", "prometheus.yml", "--storage.tsdb.path", "data", "--log.level", "warn"]
    try:
        process = subprocess.Popen(["prometheus", *options, "--web.listen-address", address], cwd=home)
    except FileNotFoundError:
        missing("prometheus")
    with process:
        try:
            yield f"http://{address}"
        finally:
            process.terminate()


@contextmanager
def running(process: "subprocess.Popen[bytes]") -> Iterator[None]:
    with process:
        try:
            yield
        finally:
            process.terminate()


@pytest.fixture(scope="module")
def broker() -> Iterator[Redis]:
    with redis_server() as server:
        yield server


def unhealthy_rules(address: str) -> list[str]:
    with urllib.request.urlopen(f"{address}/api/v1/rules", timeout=60) as answer:
        groups = json.load(answer)["data"]["groups"]
    return [rule["name"] for group in groups for rule in group["rules"] if rule["health"] == "err"]


def set_model(jarvis: Jarvis, server: ModelServer) -> None:
    group = {
        "model": "m",
        "base_url": server.url,
        "profile": "openai",
        "api_key": API_KEY,
        "prices": {"input": 1, "output": 2},
    }
    write_settings(jarvis.place, {"models": {"local": group}, "model_group": "local"})


def is_below(span: ReceivedSpan, root: ReceivedSpan, spans: dict[str, ReceivedSpan]) -> bool:
    while span.parent in spans:
        span = spans[span.parent]
    return span.id == root.id


def check_traces(receiver: Receiver) -> None:
    """Each run is one trace from submit to verdict, of several processes and without any code or key."""
    roots = {span.trace: span for span in receiver.named("submit")}
    spans = {span.id: span for span in receiver.spans}
    assert len(roots) == 2
    assert all(is_below(span, roots[span.trace], spans) for span in receiver.spans)
    for trace in roots:
        ours = [span for span in receiver.spans if span.trace == trace]
        assert {"plan scan", "scan", "cluster", "verify", "report", "chat m"} <= {span.name for span in ours}
        assert len({span.resource["process.pid"] for span in ours}) >= 4
    assert not any(secret in body for body in receiver.raw for secret in (b"strcpy", b"sscanf", API_KEY.encode()))


@pytest.mark.slow
@pytest.mark.timing
def test_after_two_runs_every_panel_has_data_and_each_run_is_one_trace(
    jarvis: Jarvis, postgres_url: str, broker: Redis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusals = [fails(429, retry_after="0.1")]

    def answer(body: Body) -> Step:
        return refusals.pop() if refusals else judge(body)

    def run(name: str) -> None:
        files: dict[str, str | bytes] = {f"{name}{n}.c": f"/* {name} {n} */\n" + COPY + SYSTEM for n in range(FILES)}
        assert jarvis("sec", "agent", "-p", jarvis.tree(name, files), "-q", "-o", tmp_path / f"{name}.json").code in (
            0,
            3,
        )

    monkeypatch.setenv("JARVIS_STORE_URL", postgres_url)
    monkeypatch.setenv("JARVIS_BROKER_URL", broker.url)
    worker, store = free_port(), free_port()
    with otlp_receiver() as receiver, ExitStack() as resources:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.address)
        set_model(jarvis, resources.enter_context(ModelServer(forever=answer)))
        start = ("worker", "start", "--metrics-port", worker, "--metrics-host", "127.0.0.1")
        resources.enter_context(running(jarvis.start(*start)))
        resources.enter_context(running(jarvis.start("metrics", "--port", store)))
        address = resources.enter_context(prometheus(tmp_path, {"jarvis-metrics": store, "jarvis-workers": worker}))
        run("one")
        until(lambda: ask(address, 'jarvis_worker_model_calls_total{outcome="answered"}'), seconds=SECONDS)
        run("two")
        until(lambda: not without_data(address), seconds=SECONDS)
        until(lambda: ask(address, 'sum(jarvis_runs{kind="sec.agent"}) == 2'), seconds=SECONDS)

        assert ask(address, 'sum(jarvis_worker_throttled_requests_total{model="m"})')[0]["value"][1] == "1"
        assert unhealthy_rules(address) == []
        firing = {one["metric"]["alertname"] for one in ask(address, 'ALERTS{alertstate="firing"}')}
        assert firing == set()
        # The processes export their last spans when they end.
        resources.close()
        check_traces(receiver)
