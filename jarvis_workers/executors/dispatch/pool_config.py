"""The configuration of a pool process: one line of JSON that its parent writes to standard input."""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Self

from jarvis_workers.store.deadline import STATEMENT_SECONDS
from jarvis_workers.telemetry import LogLevel

# The module that reads the configuration.
POOL_MODULE = "jarvis_workers.executors.dispatch.pool_main"


@dataclass(frozen=True, slots=True)
class PoolConfig:
    """The configuration of a pool process: addresses, queue, number of slots, time limits.

    `models` are the settings of model groups by name, including API keys; `callbacks` and `tools` are directories of
    users' plugins; `mcp` are the settings of MCP servers, `search_url` and `search_key` those of a search endpoint. The
    processes write their metrics to `metrics_directory`, None without metrics; `traces` are the environment variables
    that configure the export of traces, none if tracing is disabled. `parent` is the pid of the process that starts
    the pool; the pool ends with it.
    """

    broker_url: str
    store_url: str
    blobs_url: str
    cache: str
    worker_id: str
    queue: str
    slots: int
    lease_seconds: float
    job_lease_seconds: float
    tick_seconds: float
    resend_seconds: float
    statement_seconds: float = STATEMENT_SECONDS
    deadline_seconds: float = 3600.0
    results_bytes: int = 0
    log_level: LogLevel = "info"
    models: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    callbacks: tuple[str, ...] = ()
    mcp: tuple[Mapping[str, Any], ...] = ()
    search_url: str | None = None
    search_key: str | None = None
    tools: tuple[str, ...] = ()
    metrics_directory: str | None = None
    traces: Mapping[str, str] = field(default_factory=dict)
    parent: int = field(default_factory=os.getpid)

    def line(self) -> bytes:
        """Encode the configuration as a line of JSON, without the newline."""
        return json.dumps(asdict(self)).encode()

    @classmethod
    def parse(cls, line: bytes) -> Self:
        """Decode the configuration from a line of JSON."""
        return cls(**json.loads(line))
