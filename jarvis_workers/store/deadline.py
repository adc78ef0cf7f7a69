"""Deadlines for database statements, shared by all connections of an engine."""

import math
import time
from dataclasses import dataclass, field

STATEMENT_SECONDS = 15.0
# Limit for a statement that the server is still executing, such as numbering millions of candidates.
EXECUTION_SECONDS = 600.0
# The limit is much longer than the pauses between statements on a busy machine. Waiting for a lock has no deadline.
IDLE_SECONDS = 10.0


@dataclass(slots=True)
class Deadline:
    """Time limits in seconds on waiting for the database; may be changed while statements are running.

    A statement without an answer for `statement_seconds` fails, unless the server confirms over another connection that
    it is still executing the statement; in that case `execution_seconds` applies. `alive_at` is the time of the
    server's last answer (monotonic clock). The server ends transactions that are idle for `idle_seconds`; changing this
    affects new connections only.
    """

    statement_seconds: float = STATEMENT_SECONDS
    execution_seconds: float = EXECUTION_SECONDS
    idle_seconds: float = IDLE_SECONDS
    alive_at: float = field(default_factory=time.monotonic)

    def lift_execution_limit(self) -> None:
        """Wait as long as the server executes a statement; for migrations and the deletion of large runs."""
        self.execution_seconds = math.inf

    def shorten(self, seconds: float) -> None:
        """Let all statements, including running ones, fail after `seconds`, since the process is about to end."""
        self.statement_seconds = min(seconds, self.statement_seconds)
        self.execution_seconds = 0.0
