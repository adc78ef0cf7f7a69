"""Room for nested calls of Python, so that the depth of the caller does not decide how deeply code may be nested."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

# The number of calls that the front end, or the analysis of a function, may nest.
CALLS_DEEP = 960


@contextmanager
def room_for_calls() -> Iterator[None]:
    """Allow CALLS_DEEP nested calls from here on."""
    depth, frame = 0, sys._getframe()
    while frame := frame.f_back:  # type: ignore[assignment]
        depth += 1
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(depth + CALLS_DEEP)
    try:
        yield
    finally:
        sys.setrecursionlimit(before)
