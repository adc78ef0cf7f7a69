"""Run blocking calls of coroutines in daemon threads, one thread per call.

asyncio.to_thread has a small thread pool, in which slow tools would block all other conversations; and Python joins the
threads of that pool at exit, so that a user-defined tool that hangs would keep Ctrl-C from ending a command.
"""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, TypeVar

from jarvis_workers.futures import settle

T = TypeVar("T")


async def in_thread(do: Callable[..., T], *args: Any) -> T:
    """Call `do` in a new thread and return its result or raise its exception.

    After a cancellation the call continues, and its outcome is dropped.
    """
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    future = Future[T]()

    def wake(_: Future[T]) -> None:
        with suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(ended.set)

    future.add_done_callback(wake)
    name = getattr(do, "__name__", "tool")
    threading.Thread(target=settle, args=(future, do, *args), name=name, daemon=True).start()
    await ended.wait()
    return future.result()
