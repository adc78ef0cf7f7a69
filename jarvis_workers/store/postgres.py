"""Connections to PostgreSQL with a client-side deadline for every statement.

TCP keepalives do not detect a pooler or proxy that acknowledges packets but forwards nothing, so each wait for the
server is bounded. To distinguish slow statements from lost ones, another connection asks the server whether its backend
is still executing the statement.

A pooler such as pgbouncer makes up the process id that it tells its clients, which distinguishes it from a server. In
its transaction mode each transaction may have another connection to the server: what one sets for a session, others
get, and statements that one prepares are not found again.
"""

import time
from collections.abc import Callable, Generator, Mapping
from contextlib import closing
from functools import partial
from typing import Any, TypeVar

import psycopg
from psycopg import waiting

from jarvis_workers.store.deadline import Deadline

# Interval for checking the deadline and for handling signals.
LOOK_SECONDS = 0.1
CHECK_SECONDS = 2
IDLE_LIMIT = "idle_in_transaction_session_timeout"
# A backend waiting for its client has sent an answer that was lost, or has never received the statement.
EXECUTING = """
SELECT 1 FROM pg_stat_activity
WHERE pid = %s AND state = 'active' AND coalesce(wait_event_type, '') <> 'Client'
"""

T = TypeVar("T")


class BoundedConnection(psycopg.Connection[Any]):
    """A connection that is closed if a statement exceeds its deadline, which raises OperationalError."""

    deadline = Deadline()
    connect_again: Callable[..., psycopg.Connection[Any]] = psycopg.connect
    # Behind a pooler: what begins each transaction and returns the process id of its backend.
    begin_statement = ""
    server_pid: int | None = None

    def wait(self, gen: Any, interval: float = LOOK_SECONDS, timeout: float | None = None) -> Any:
        """Wait for the server; the driver calls this for every exchange but connecting, which has its own timeout."""
        try:
            return waiting.wait(self._bounded(gen), self.pgconn.socket, interval)
        except KeyboardInterrupt:
            # The driver would ask the server to cancel, and would wait for the answer.
            self.pgconn.finish()
            raise

    def _bounded(self, exchange: Generator[T, Any, Any]) -> Generator[T, Any, Any]:
        """Run the driver's side of an exchange until it ends or the server has been silent for too long."""
        began = last_activity = time.monotonic()
        try:
            interest = next(exchange)
            while True:
                ready = yield interest
                if ready:
                    last_activity = time.monotonic()
                elif time.monotonic() - last_activity >= self.deadline.statement_seconds:
                    self._check(began)
                    last_activity = time.monotonic()
                interest = exchange.send(ready)
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
        raise psycopg.OperationalError(f"no response for {waited:.0f} s; the connection was closed")

    def _is_executing(self) -> bool:
        try:
            with closing(self.connect_again(deadline=Deadline(CHECK_SECONDS, 0.0))) as other:
                pid = self.server_pid or self.info.backend_pid
                return other.execute(EXECUTING, [pid]).fetchone() is not None
        except psycopg.Error:
            return False


def connect(*arguments: Any, deadline: Deadline, **parameters: Any) -> BoundedConnection:
    """Connect with psycopg, which has its own connection timeout; afterwards `deadline` applies."""
    connection = BoundedConnection.connect(*arguments, **parameters)
    connection.deadline = deadline
    again = {**parameters, "connect_timeout": CHECK_SECONDS}
    connection.connect_again = partial(connect, *arguments, **again)
    return connection


def prepare(connection: BoundedConnection, parameters: Mapping[str, Any]) -> None:
    """Let the server end transactions of a silent client, so that their locks are released; adapt to a pooler.

    `options` in the `parameters` of the connection replace the limit, `prepare_threshold` what a pooler gets.
    """
    milliseconds = 0 if "options" in parameters else round(connection.deadline.idle_seconds * 1000)
    connection.autocommit = True
    (pid,) = connection.execute("SELECT pg_backend_pid()").fetchone() or (None,)
    if pid != connection.info.backend_pid:
        connection.prepare_threshold = parameters.get("prepare_threshold")
        limited = f", set_config('{IDLE_LIMIT}', '{milliseconds}', true)" if milliseconds else ""
        connection.begin_statement = f"SELECT pg_backend_pid(){limited}"
    elif milliseconds:
        connection.execute(f"SET {IDLE_LIMIT} = {milliseconds}".encode())
    connection.autocommit = False
