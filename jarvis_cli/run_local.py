"""Execute a run in this process; a message shows users how to resume an interrupted run."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from jarvis_cli.status_output import Display
from jarvis_workers.errors import StoreError
from jarvis_workers.service.wiring import LocalExecutor
from jarvis_workers.store.values import Run


def run_locally(local: LocalExecutor, run_id: str, screen: Display, *, resumable: bool = True) -> Run:
    """Execute a run until it ends. SIGTERM and SIGHUP are handled like Ctrl-C."""
    with interruptible():
        try:
            return local.carry_out(run_id)
        except (KeyboardInterrupt, StoreError):
            further = f"; continue with: jarvis runs resume {run_id}" if resumable else ""
            screen.tell(f"run {run_id} is not finished{further}")
            raise


@contextmanager
def interruptible() -> Iterator[None]:
    """Convert signals to KeyboardInterrupt; an ignored signal, as under nohup, stays ignored."""
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    for number, handler in before.items():
        if handler != signal.SIG_IGN:
            signal.signal(number, _interrupt)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt
