"""`jarvis metrics`: serve the metrics of the store until a signal ends the process."""

import signal
import sys
import threading
from collections.abc import Callable

from prometheus_client import CollectorRegistry

from jarvis_workers import telemetry
from jarvis_workers.operate.metrics.endpoint import MetricsServer
from jarvis_workers.operate.metrics.store_collector import StoreCollector
from jarvis_workers.runs.wiring import has_default_store
from jarvis_workers.settings import Settings
from jarvis_workers.store.engine import Store, open_store

# A scrape has 10 s by default; a database that does not answer within these seconds is away.
STATEMENT_SECONDS = 5.0
EXECUTION_SECONDS = 8.0


def serve_store_metrics(settings: Settings, host: str, port: int, tell: Callable[[str], None]) -> None:
    """Serve the metrics; `tell` is called with the address once connections are accepted. Raises UsageError."""
    telemetry.set_up(settings.log_level, sys.stderr.fileno())
    collector = StoreCollector(lambda: _open(settings), settings.lease_seconds)
    registry = CollectorRegistry(auto_describe=False)
    registry.register(collector)
    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())
    with MetricsServer(host, port, registry) as server:
        server.start()
        tell(f"http://{host}:{server.port}/metrics")
        ended.wait()
        server.shutdown()
    collector.close()


def _open(settings: Settings) -> Store:
    seconds = min(STATEMENT_SECONDS, settings.store.statement_seconds)
    is_new = has_default_store(settings)
    store = open_store(settings.effective_store_url, connections=1, statement_seconds=seconds, create=is_new)
    store.deadline.execution_seconds = EXECUTION_SECONDS
    return store
