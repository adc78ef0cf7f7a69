"""Celery's consumer, which reconnects when the process has no file descriptor left, instead of ending the pool."""

import errno
from typing import Any

from celery.worker import consumer


class Consumer(consumer.Consumer):
    """The consumer of all pools. Celery ends a process whose error is EMFILE, and retries other errors."""

    class Blueprint(consumer.Consumer.Blueprint):  # type: ignore[misc,valid-type]
        """The steps of the consumer."""

        def start(self, parent: Any) -> None:
            """Run the steps until the connection is lost."""
            try:
                super().start(parent)
            except OSError as error:
                if error.errno != errno.EMFILE:
                    raise
                raise ConnectionError(str(error)) from error
