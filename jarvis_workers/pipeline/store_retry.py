"""Retry store operations during an outage, with a deadline. The result of a job stays in memory meanwhile."""

import threading
from collections.abc import Callable
from typing import TypeVar

from tenacity import (
    Retrying,
    retry_all,
    retry_if_exception_type,
    retry_if_not_exception_type,
    sleep_using_event,
    stop_after_delay,
    stop_any,
    stop_when_event_set,
    wait_exponential,
)

from jarvis_workers.errors import StoreUnavailable

PATIENCE_SECONDS = 600
WAIT_SECONDS = 5

T = TypeVar("T")


def retry_store(
    do: Callable[[], T],
    stop: threading.Event | None = None,
    unless: tuple[type[StoreUnavailable], ...] = (),
    *,
    patience_seconds: float = PATIENCE_SECONDS,
) -> T:
    """Call `do`, and retry it while the store is unavailable, for `patience_seconds` or until `stop` is set.

    Errors of the types `unless` are raised at once.
    """
    stop = stop or threading.Event()
    again = Retrying(
        retry=retry_all(retry_if_exception_type(StoreUnavailable), retry_if_not_exception_type(unless)),
        stop=stop_any(stop_after_delay(patience_seconds), stop_when_event_set(stop)),
        sleep=sleep_using_event(stop),
        wait=wait_exponential(multiplier=0.2, max=WAIT_SECONDS),
        reraise=True,
    )
    return again(do)
