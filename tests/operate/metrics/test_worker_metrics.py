"""The metrics of a worker: its processes count, its endpoint sums them, also those of processes that have ended."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from jarvis_workers.operate.metrics.worker_metrics import PoolsCollector, serve_worker_metrics
from tests.operate.metrics.test_store_metrics import documented, scraped, value
from tests.support.servers import free_port

COUNTING = [sys.executable, "-m", "tests.executors.dispatch.counting"]


@contextmanager
def counting(directory: str) -> Iterator[None]:
    """A process that has counted, and lives."""
    with subprocess.Popen([*COUNTING, directory], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout and process.stdout.readline() == b"counted\n"
        yield
        process.communicate()


@pytest.mark.slow
def test_processes_are_summed_and_counts_outlive_them() -> None:
    with serve_worker_metrics("127.0.0.1", port := free_port()) as directory:
        address = f"http://127.0.0.1:{port}"
        with counting(directory):
            pass
        with counting(directory):
            both = scraped(address)
        after = scraped(address)

    exported = {
        f"{name}_total" if family.type == "counter" else name: (
            family.type,
            frozenset(label for one in family.samples for label in one.labels) - {"le"},
            family.documentation,
        )
        for name, family in both.items()
    }
    assert exported == documented("Metrics of workers")
    assert value(both, "jarvis_worker_jobs", queue="scan", stage="scan", outcome="done") == 2
    assert value(both, "jarvis_worker_source_bytes", queue="scan", stage="scan") == 32_000_000
    assert value(both, "jarvis_worker_model_cost_dollars", model="large") == 0.5
    assert value(both, "jarvis_worker_throttled_requests", model="large") == 2
    assert value(both, "jarvis_worker_conversations") == 1
    assert value(after, "jarvis_worker_jobs", queue="scan", stage="scan", outcome="done") == 2
    assert "jarvis_worker_conversations" not in after


@pytest.mark.slow
def test_a_worker_without_metrics_imports_no_client() -> None:
    code = "import sys, jarvis_workers.executors.dispatch.pool as pool; sys.exit('prometheus_client' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", code], env=os.environ).returncode == 0


@pytest.mark.slow
def test_files_of_ended_processes_are_merged_without_a_change_of_the_sums(tmp_path: Path) -> None:
    for _ in range(2):
        with counting(str(tmp_path)):
            pass
    before = samples(PoolsCollector(tmp_path))
    files = sorted(file.name for file in tmp_path.iterdir())
    merging = PoolsCollector(tmp_path, left_files_max=0)

    assert samples(merging) == before
    assert samples(merging) == before
    assert sorted(file.name for file in tmp_path.iterdir()) == ["counter_ended.db", "histogram_ended.db"]
    assert len(files) == 4
    with counting(str(tmp_path)):
        pass
    assert samples(merging)["jarvis_worker_jobs_total", "done"] == 3
    assert samples(PoolsCollector(tmp_path))["jarvis_worker_job_seconds_count", ""] == 6


def samples(collector: PoolsCollector) -> dict[tuple[str, str], float]:
    """Return the sums by name, and outcome or bucket."""
    return {
        (one.name, one.labels.get("outcome", one.labels.get("le", one.labels.get("type", "")))): one.value
        for family in collector.collect()
        for one in family.samples
    }
