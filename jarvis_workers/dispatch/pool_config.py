"""The configuration of a pool process: one line of JSON that its parent writes to standard input."""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Self

from jarvis_workers.store.deadline import STATEMENT_SECONDS
from jarvis_workers.telemetry import LogLevel

# The module that reads them.
POOL_MODULE = "jarvis_workers.dispatch.pool_main"


@dataclass(frozen=True, slots=True)
class Orders:
    """What a pool process is told: where things are, which queue, how many slots, how long things may take.

    `models` are the model groups by name, keys and all, `callbacks`
    directories of users' own. `parent` is the pid of the process that starts the pool, without which it must not run.
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
    parent: int = field(default_factory=os.getpid)

    def line(self) -> bytes:
        """Return the orders as a line."""
        return json.dumps(asdict(self)).encode()

    @classmethod
    def parse(cls, line: bytes) -> Self:
        """Return the orders that `line` holds."""
        return cls(**json.loads(line))
