"""The metrics of a worker: its pool processes count in files of a directory, and this endpoint sums them."""

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from prometheus_client import CollectorRegistry, Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from jarvis_workers.service.metrics.endpoint import MetricsServer
from jarvis_workers.toolchain.die_with_parent import is_running


class PoolsCollector(Collector):
    """Sums what the processes of a worker have counted; counts of processes that have ended remain, gauges do not."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def describe(self) -> Iterable[Metric]:
        """Return nothing: the metrics are those that the processes have written."""
        return ()

    def collect(self) -> Iterable[Metric]:
        """Return the metrics of all processes."""
        for file in self._directory.glob("gauge_live*_*.db"):
            if not is_running(int(file.stem.rpartition("_")[2])):
                file.unlink(missing_ok=True)
        found: Iterable[Metric] = MultiProcessCollector(None, str(self._directory)).collect()  # type: ignore[no-untyped-call]
        return found


@contextmanager
def serve_worker_metrics(host: str, port: int) -> Iterator[str]:
    """Serve the metrics of a worker during the block; yields the directory for its processes. Raises UsageError."""
    with tempfile.TemporaryDirectory(prefix="jarvis-metrics-") as directory:
        registry = CollectorRegistry(auto_describe=False)
        registry.register(PoolsCollector(Path(directory)))
        with MetricsServer(host, port, registry) as server:
            server.start()
            try:
                yield directory
            finally:
                server.shutdown()
