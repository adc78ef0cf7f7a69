"""The deadline of a conversation, and pauses of it."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

# The time limit of the current conversation, whose task is the context.
DEADLINE: ContextVar[asyncio.Timeout | None] = ContextVar("DEADLINE", default=None)


@contextmanager
def pause_deadline() -> Iterator[None]:
    """Exclude the time of the block from the deadline of the current conversation, if it has one."""
    limit = DEADLINE.get()
    when = limit.when() if limit else None
    if limit is None or when is None:
        yield
        return
    clock = asyncio.get_running_loop().time
    left = when - clock()
    limit.reschedule(None)
    try:
        yield
    finally:
        if not limit.expired():
            limit.reschedule(clock() + left)
