"""Execute a call on behalf of those who wait for its future, as executors of the standard library do."""

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

__all__ = ["settle"]

T = TypeVar("T")


def settle(future: Future[T], do: Callable[..., T], *given: Any) -> Future[T]:
    """Give a future the result of a call, or whatever the call raises; return it."""
    try:
        result = do(*given)
    except BaseException as error:  # noqa: BLE001  (raised where the future is waited for)
        future.set_exception(error)
    else:
        future.set_result(result)
    return future
