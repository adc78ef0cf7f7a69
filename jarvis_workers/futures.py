"""Run a call and settle a future with its outcome, as the executors of the standard library do."""

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")


def settle(future: Future[T], do: Callable[..., T], *args: Any) -> Future[T]:
    """Set a future to the result or the exception of a call; return the future."""
    try:
        result = do(*args)
    except BaseException as error:  # noqa: BLE001  (raised where the future is waited for)
        future.set_exception(error)
    else:
        future.set_result(result)
    return future
