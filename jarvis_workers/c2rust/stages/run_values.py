"""Values that all jobs of a run need in the process of their conversations, such as its skeleton: computed once."""

from collections.abc import Callable
from functools import lru_cache, wraps
from threading import Lock
from typing import TypeVar, cast

RUNS = 2
Function = TypeVar("Function", bound=Callable[..., object])


def of_run(compute: Function) -> Function:
    """Cache the results of a function for the last runs; threads that need the same value wait for the first one."""
    cached, lock = lru_cache(RUNS)(compute), Lock()

    @wraps(compute)
    def value(*args: object) -> object:
        with lock:
            return cached(*args)

    return cast(Function, value)
