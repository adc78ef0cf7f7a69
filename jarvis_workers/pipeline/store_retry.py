"""Retry store operations during an outage, with a deadline; a job's result stays in memory meanwhile."""

import threading
from collections.abc import Callable
from typing import TypeVar

from tenacity import (
    Retrying,
    retry_if_exception_type,
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


def patiently(do: Callable[[], T], told: threading.Event | None = None) -> T:
    """Do it, and again while the store is away, for PATIENCE_SECONDS or until `told`."""
    told = told or threading.Event()
    again = Retrying(
        retry=retry_if_exception_type(StoreUnavailable),
        stop=stop_any(stop_after_delay(PATIENCE_SECONDS), stop_when_event_set(told)),
        sleep=sleep_using_event(told),
        wait=wait_exponential(multiplier=0.2, max=WAIT_SECONDS),
        reraise=True,
    )
    return again(do)
