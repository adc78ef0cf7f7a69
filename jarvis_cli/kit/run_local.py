"""Execute a run in this process; a message shows users how to resume an interrupted run."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING

from jarvis_cli.kit.status_output import Display
from jarvis_workers.errors import StoreError
from jarvis_workers.store.values import Run

if TYPE_CHECKING:
    from jarvis_workers.executors.local.executor import LocalExecutor


def run_locally(local: "LocalExecutor", run_id: str, screen: Display, *, resumable: bool = True) -> Run:
    """Execute a run until it ends. SIGTERM and SIGHUP are handled like Ctrl-C."""
    with interruptible():
        try:
            return local.carry_out(run_id)
        except (KeyboardInterrupt, StoreError):
            further = f"; continue with: jarvis runs resume {run_id}" if resumable else ""
            screen.tell(f"run {run_id} is not finished{further}")
            raise


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


@contextmanager
def interruptible(handler: Callable[[int, FrameType | None], None] = _interrupt) -> Iterator[None]:
    """Handle SIGTERM and SIGHUP, by default like Ctrl-C; an ignored signal, as under nohup, stays ignored."""
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    for number, earlier in before.items():
        if earlier != signal.SIG_IGN:
            signal.signal(number, handler)
    try:
        yield
    finally:
        for number, earlier in before.items():
            signal.signal(number, earlier)
