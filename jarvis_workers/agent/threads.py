"""Call what may take long in a thread of its own, which nobody waits for when the process ends.

The threads of asyncio.to_thread are few, so that slow tools would hold up all other conversations, and Python ends only
when they have come to theirs: a tool of the user's own that hangs would keep Ctrl-C from ending a command.
"""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, TypeVar

from jarvis_workers.futures import settle

T = TypeVar("T")


async def in_thread(do: Callable[..., T], *given: Any) -> T:
    """Return what it returns, and raise what it raises; called off, it goes on, and nobody hears of it."""
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    future = Future[T]()

    def wake(_: Future[T]) -> None:
        with suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(ended.set)

    future.add_done_callback(wake)
    name = getattr(do, "__name__", "tool")
    threading.Thread(target=settle, args=(future, do, *given), name=name, daemon=True).start()
    await ended.wait()
    return future.result()
