"""How long a statement may go without an answer; shared by all connections of an engine."""

import math
import time
from dataclasses import dataclass, field

STATEMENT_SECONDS = 15.0
# A statement that the server is still executing, such as the numbering of millions of candidates.
EXECUTION_SECONDS = 600.0
# Much longer than a process on a busy machine pauses between two statements. Who waits for a lock has no deadline.
IDLE_SECONDS = 10.0


@dataclass(slots=True)
class Deadline:
    """Limits on waiting for the database, in seconds; may be changed while statements are under way.

    A statement without an answer for `statement_seconds` fails, unless the server says over another connection that it
    is executing it: then it has `execution_seconds`. `alive_at` is when the server last answered (monotonic clock).
    The server ends transactions that are idle for `idle_seconds`, which holds for connections that are made later.
    """

    statement_seconds: float = STATEMENT_SECONDS
    execution_seconds: float = EXECUTION_SECONDS
    idle_seconds: float = IDLE_SECONDS
    alive_at: float = field(default_factory=time.monotonic)

    def lift_execution_limit(self) -> None:
        """Wait for statements as long as the server executes them: migrations, and the deletion of large runs."""
        self.execution_seconds = math.inf

    def shorten(self, seconds: float) -> None:
        """Let every statement fail after `seconds`, those under way too: the process is about to end."""
        self.statement_seconds = min(seconds, self.statement_seconds)
        self.execution_seconds = 0.0
