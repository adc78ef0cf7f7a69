"""The metrics of the store over HTTP: what docs/metrics.md lists, also while the store is away."""

import re
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry, Metric
from prometheus_client.parser import text_string_to_metric_families
from sqlalchemy import insert

from jarvis_workers.errors import StoreUnavailable, UsageError
from jarvis_workers.operate.metrics.endpoint import MetricsServer
from jarvis_workers.operate.metrics.store_collector import CACHE_SECONDS, MODELS_MAX, StoreCollector, merge_rare
from jarvis_workers.sec.store import candidates
from jarvis_workers.store.engine import Store, open_store
from jarvis_workers.store.metric_queries import ModelSum
from jarvis_workers.store.tables import MODEL_CALL
from tests.store.arrange import SPOT, add_planned_run, claim, commit, run_to_its_end
from tests.store.clocks import FakeClock
from tests.support.servers import free_port

DOCS = Path(__file__).parents[3] / "docs/metrics.md"
ROW = re.compile(r"^\| `(jarvis_\w+)` \| (\w+) \|([\w, ]*)\| (.*) \|$", re.MULTILINE)
LEASE = 30.0


def documented(section: str) -> dict[str, tuple[str, frozenset[str], str]]:
    """Return type, labels and meaning of each metric in a section of the documentation."""
    text = DOCS.read_text().partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    rows = ROW.findall(text)
    return {name: (kind, frozenset(labels.replace(",", " ").split()), says) for name, kind, labels, says in rows}


@contextmanager
def serving(collector: StoreCollector) -> Iterator[str]:
    registry = CollectorRegistry(auto_describe=False)
    registry.register(collector)
    with MetricsServer("127.0.0.1", 0, registry) as server:
        thread = server.start()
        yield f"http://127.0.0.1:{server.port}"
        server.shutdown()
        thread.join()


def scraped(address: str) -> dict[str, Metric]:
    with urllib.request.urlopen(f"{address}/metrics", timeout=30) as answer:
        return {family.name: family for family in text_string_to_metric_families(answer.read().decode())}


def value(families: dict[str, Metric], name: str, **labels: str) -> float:
    (found,) = [one.value for one in families[name].samples if one.labels == labels]
    return found


@pytest.fixture
def used(sqlite_url: str, open_stores: Callable[..., Store]) -> Store:
    """A store with a finished run of two findings, an active one, and a model's calls."""
    store = open_stores(sqlite_url)
    ended = add_planned_run(store, 1)
    commit(store, claim(store, ended)[0], SPOT, SPOT._replace(line=2, confidence=0.1))
    run_to_its_end(store, ended)
    with store.write() as session:
        candidates.number(session, ended)
        usage = {"job_id": 1, "prompt": 100, "cached": 40, "completion": 10, "cost": 0.5, "seconds": 1.0}
        session.execute(insert(MODEL_CALL).values(run_id=ended, model='evil"\n{}', tries=1, **usage))
    add_planned_run(store, 3, executor="cluster")
    return store


def test_the_store_exports_what_is_documented(used: Store) -> None:
    with serving(StoreCollector(lambda: used, LEASE)) as address:
        families = scraped(address)

    exported = {
        name: (family.type, frozenset(label for one in family.samples for label in one.labels), family.documentation)
        for name, family in families.items()
    }
    assert exported == documented("Metrics of the store")


def test_values_are_those_of_the_store(used: Store) -> None:
    with serving(StoreCollector(lambda: used, LEASE)) as address:
        families = scraped(address)

    assert value(families, "jarvis_store_up") == 1
    assert value(families, "jarvis_jobs", kind="sec.fast", stage="scan", state="failed") == 0
    assert value(families, "jarvis_queue_backlog_jobs", queue="scan") == 3
    assert all(value(families, "jarvis_queue_backlog_jobs", queue=queue) == 0 for queue in ("agent", "translate"))
    assert value(families, "jarvis_runs", kind="sec.fast", state="done") == 1
    assert value(families, "jarvis_findings", kind="sec.fast", severity="high") == 1
    assert value(families, "jarvis_findings", kind="sec.fast", severity="low") == 1
    assert value(families, "jarvis_model_tokens", model='evil"\n{}', type="completion") == 10


def test_a_store_that_is_away_is_down_and_comes_back(used: Store) -> None:
    clock, answers = FakeClock(), iter([StoreUnavailable("away"), used])

    def open_it() -> Store:
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    with serving(StoreCollector(open_it, LEASE, clock.monotonic)) as address:
        away = scraped(address)
        still_away = scraped(address)
        clock.advance(CACHE_SECONDS)
        back = scraped(address)

    assert (list(away), value(away, "jarvis_store_up")) == (["jarvis_store_up"], 0)
    assert value(still_away, "jarvis_store_up") == 0
    assert value(back, "jarvis_store_up") == 1


def test_a_database_without_a_server_is_down() -> None:
    url = f"postgresql://nobody@127.0.0.1:{free_port()}/jarvis"
    with serving(StoreCollector(lambda: open_store(url, statement_seconds=1.0), LEASE)) as address:
        assert value(scraped(address), "jarvis_store_up") == 0


@pytest.mark.slow
def test_a_reading_serves_the_scrapes_of_some_seconds(used: Store) -> None:
    clock = FakeClock()
    collector = StoreCollector(lambda: used, LEASE, clock.monotonic)
    with serving(collector) as address:
        before = value(scraped(address), "jarvis_queue_waiting_jobs", queue="scan")
        add_planned_run(used, 4, executor="cluster")
        cached = value(scraped(address), "jarvis_queue_waiting_jobs", queue="scan")
        clock.advance(CACHE_SECONDS)
        after = value(scraped(address), "jarvis_queue_waiting_jobs", queue="scan")

    assert (before, cached, after) == (3, 3, 7)


def test_other_paths(used: Store) -> None:
    with serving(StoreCollector(lambda: used, LEASE)) as address:
        with urllib.request.urlopen(f"{address}/healthz", timeout=30) as answer:
            assert answer.read() == b"ok\n"
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(f"{address}/", timeout=30)


def test_a_port_in_use_is_refused_by_name() -> None:
    with (
        MetricsServer("127.0.0.1", 0, CollectorRegistry()) as server,
        pytest.raises(UsageError, match=rf"metrics: cannot listen on 127\.0\.0\.1:{server.port}"),
    ):
        MetricsServer("127.0.0.1", server.port, CollectorRegistry())


def test_models_beyond_the_first_are_summed() -> None:
    models = [ModelSum(f"model {n}", False, 5, 10, 4, 2, 0.5) for n in range(MODELS_MAX + 3)]

    merged = merge_rare(models)

    assert merged[:-1] == models[:MODELS_MAX]
    assert merged[-1] == ModelSum("other", False, 15, 30, 12, 6, 1.5)
