"""Call what may take long in a thread of its own, which nobody waits for when the process ends.

The threads of asyncio.to_thread are few, so that slow tools would hold up all other conversations, and Python ends only
when they have come to theirs: a tool of the user's own that hangs would keep Ctrl-C from ending a command.
"""

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

T = TypeVar("T")


async def in_thread(do: Callable[..., T], *given: Any) -> T:
    """Return what it returns, and raise what it raises; called off, it goes on, and nobody hears of it."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def tell(settle: Callable[[Any], None], what: Any) -> None:
        def settle_once() -> None:
            if not future.done():
                settle(what)

        with suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(settle_once)

    def run() -> None:
        try:
            found = do(*given)
        except BaseException as error:  # noqa: BLE001  (handed to who waits)
            tell(future.set_exception, error)
        else:
            tell(future.set_result, found)

    threading.Thread(target=run, name=getattr(do, "__name__", "tool"), daemon=True).start()
    return await future
