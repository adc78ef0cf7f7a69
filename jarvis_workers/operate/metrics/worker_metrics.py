"""The metrics of a worker: pool processes write counters to files of a directory; the endpoint sums them.

The counts of processes that have ended remain. Their files are merged into one per type, or a scan whose processes
crash again and again would fill the directory.
"""

import tempfile
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from prometheus_client import CollectorRegistry, Metric
from prometheus_client.mmap_dict import MmapedDict, mmap_key
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from jarvis_workers.operate.metrics.endpoint import MetricsServer
from jarvis_workers.toolchain.die_with_parent import is_running

# Types whose values outlive a process; the library's files are named TYPE_PID.db.
CUMULATIVE_TYPES = ("counter", "histogram")
LEFT_FILES_MAX = 32


class PoolsCollector(Collector):
    """Sums the counts of the processes of a worker; up to `left_files_max` files of ended processes remain."""

    def __init__(self, directory: Path, left_files_max: int = LEFT_FILES_MAX) -> None:
        self._directory, self._left_files_max = directory, left_files_max
        self._lock = threading.Lock()

    def describe(self) -> Iterable[Metric]:
        """Return nothing: the metrics are only known from the files of the processes."""
        return ()

    def collect(self) -> Iterable[Metric]:
        """Return the metrics of all processes."""
        with self._lock:
            for file in self._left("gauge_live*"):
                file.unlink(missing_ok=True)
            for kind in CUMULATIVE_TYPES:
                if len(left := self._left(kind)) > self._left_files_max:
                    self._merge(kind, left)
            return list(_merged(sorted(self._directory.glob("*.db")), accumulate=True))

    def _left(self, kind: str) -> list[Path]:
        """Return the files of processes that have ended."""
        files = self._directory.glob(f"{kind}_*.db")
        numbered = [(file, file.stem.rpartition("_")[2]) for file in files]
        return [file for file, pid in numbered if pid.isdecimal() and not is_running(int(pid))]

    def _merge(self, kind: str, left: Sequence[Path]) -> None:
        """Add the values of some files to those of one file, and delete them."""
        target, fresh = self._directory / f"{kind}_ended.db", self._directory / f"{kind}_ended.new"
        fresh.unlink(missing_ok=True)
        values = MmapedDict(str(fresh))
        for metric in _merged([*left, *([target] if target.exists() else [])], accumulate=False):
            for sample in metric.samples:
                names, contents = list(sample.labels), list(sample.labels.values())
                key = mmap_key(metric.name, sample.name, names, contents, metric.documentation)
                values.write_value(key, sample.value, 0.0)
        values.close()
        fresh.rename(target)
        for file in left:
            file.unlink()


def _merged(files: Iterable[Path], *, accumulate: bool) -> Iterable[Metric]:
    """Return the sums over files; the buckets of histograms are cumulative if `accumulate`."""
    metrics: Iterable[Metric] = MultiProcessCollector.merge([str(file) for file in files], accumulate)
    return metrics


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
