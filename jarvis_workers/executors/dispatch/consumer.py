"""Celery's consumer, which reconnects when the process has no file descriptor left, instead of ending the pool."""

import errno
from typing import Any

from celery.worker import consumer
from kombu.exceptions import OperationalError

from jarvis_workers import telemetry
from jarvis_workers.errors import clause


class Consumer(consumer.Consumer):
    """The consumer of all pools. Celery ends a process whose error is EMFILE, and retries other errors.

    The messages of Celery about a failed connection name the address, for which kombu opens a file descriptor. Where
    that fails, kombu raises an OperationalError, which Celery does not retry.
    """

    class Blueprint(consumer.Consumer.Blueprint):  # type: ignore[misc,valid-type]
        """The steps of the consumer."""

        def start(self, parent: Any) -> None:
            """Run the steps until the connection is lost."""
            try:
                super().start(parent)
            except OperationalError as error:
                raise ConnectionError(str(error)) from error
            except OSError as error:
                if error.errno != errno.EMFILE:
                    raise
                raise ConnectionError(str(error)) from error

    def on_connection_error_before_connected(self, exc: Exception) -> None:
        """Log the error without the address."""
        telemetry.warning("broker unreachable", says=clause(str(exc)))
