"""Connections to PostgreSQL with a deadline on the client's side for every statement.

TCP keepalives do not notice a pooler or proxy that acknowledges packets and forwards nothing.  So each wait for the
server is bounded here.  A statement that is only slow is told from a lost one by asking the server, over a fresh
connection, whether its backend is still executing it.
"""

import time
from collections.abc import Callable, Generator
from contextlib import closing
from functools import partial
from typing import Any, TypeVar

import psycopg
from psycopg import waiting

from jarvis_workers.store.deadline import Deadline

# How often a wait looks at its deadline, and at signals.
LOOK_SECONDS = 0.1
CHECK_SECONDS = 2
# A backend that waits for its client has sent an answer that did not arrive, or has not received the statement.
EXECUTING = """
SELECT 1 FROM pg_stat_activity
WHERE pid = %s AND state = 'active' AND coalesce(wait_event_type, '') <> 'Client'
"""

T = TypeVar("T")


class BoundedConnection(psycopg.Connection[Any]):
    """A connection that is closed by a statement past its deadline, which raises OperationalError."""

    deadline = Deadline()
    connect_again: Callable[..., psycopg.Connection[Any]] = psycopg.connect

    def wait(self, gen: Any, interval: float = LOOK_SECONDS, timeout: float | None = None) -> Any:
        """Wait for the server; the driver calls this for every exchange after connecting, which has its own timeout."""
        try:
            return waiting.wait(self._bounded(gen), self.pgconn.socket, interval)
        except KeyboardInterrupt:
            # The driver would ask the server to cancel, and wait for its answer.
            self.pgconn.finish()
            raise

    def _bounded(self, exchange: Generator[T, Any, Any]) -> Generator[T, Any, Any]:
        """Run the driver's side of an exchange until the server has been silent for too long."""
        began = heard = time.monotonic()
        try:
            wanted = next(exchange)
            while True:
                ready = yield wanted
                if ready:
                    heard = time.monotonic()
                elif time.monotonic() - heard >= self.deadline.statement_seconds:
                    self._check(began)
                    heard = time.monotonic()
                wanted = exchange.send(ready)
        except StopIteration as end:
            self.deadline.alive_at = time.monotonic()
            return end.value

    def _check(self, began: float) -> None:
        """Return if the server is still executing the statement; otherwise close the connection and raise."""
        waited = time.monotonic() - began
        if waited < self.deadline.execution_seconds and self._is_executing():
            self.deadline.alive_at = time.monotonic()
            return
        self.pgconn.finish()
        raise psycopg.OperationalError(f"no response for {waited:.0f} s, the connection was closed")

    def _is_executing(self) -> bool:
        try:
            with closing(self.connect_again(deadline=Deadline(CHECK_SECONDS, 0.0))) as other:
                return other.execute(EXECUTING, [self.info.backend_pid]).fetchone() is not None
        except psycopg.Error:
            return False


def connect(*arguments: Any, deadline: Deadline, **parameters: Any) -> BoundedConnection:
    """Connect as psycopg does, which has a timeout of its own; then `deadline` holds."""
    connection = BoundedConnection.connect(*arguments, **parameters)
    connection.deadline = deadline
    again = {**parameters, "connect_timeout": CHECK_SECONDS}
    connection.connect_again = partial(connect, *arguments, **again)
    return connection


def limit_idle_transactions(connection: BoundedConnection) -> None:
    """Let the server end a transaction whose client falls silent, so that its locks are released."""
    milliseconds = round(connection.deadline.idle_seconds * 1000)
    connection.autocommit = True
    connection.execute(f"SET idle_in_transaction_session_timeout = {milliseconds}".encode())
    connection.autocommit = False
