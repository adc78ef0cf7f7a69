"""The agent pool: every conversation is a coroutine of one loop, and a Celery task that waits for it.

So Flower shows each, and a waiting thread costs little.  SIGTERM calls the conversations off,
which puts their jobs back without blame.  A job runs as long as its lease is renewed, and
`deadline_seconds` at most.
"""

import asyncio
import os
import resource
import threading
import time
import traceback
from collections.abc import Callable
from concurrent.futures import CancelledError
from contextlib import suppress
from typing import Any, TypeVar

from jarvis_workers.dispatch import story
from jarvis_workers.dispatch.hands import go_on, patiently, pause
from jarvis_workers.dispatch.routes import POOLS
from jarvis_workers.dispatch.writer import Holder, Writer
from jarvis_workers.errors import StepFailed, StoreError, StoreFull
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.steps.flow import Step, step_of
from jarvis_workers.steps.perform import keep, load
from jarvis_workers.store import jobs
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Claimed, Commit

STACK_BYTES = 512 << 10
OPEN_FILES = 65536
# The writer and the end have a connection of their own.
AT_THE_STORE = POOLS["agent"].connections - 2
LAST_SECONDS = 2.0
BROKEN = 70

T = TypeVar("T")


class Agents:
    """What an agent process works with: a loop, a writer, and a way to end in time."""

    def __init__(
        self,
        worker_id: str,
        world: tuple[Store, Blobs, Callable[[], None]],
        *,
        lease_seconds: float,
        deadline_seconds: float,
    ) -> None:
        self.store, self.blobs, self.ring = world
        self.deadline_seconds = deadline_seconds
        self._told, self._ended = threading.Event(), threading.Event()
        self._process = f"{worker_id}/{os.getpid()}"
        holder = Holder(worker_id, self._process, lease_seconds)
        self._writer = Writer(self.store, holder, self._lose, self._told)
        self._loop = asyncio.new_event_loop()
        self._talks: dict[Claimed, asyncio.Task[Any]] = {}
        self._called_off: set[Claimed] = set()
        self._at_the_store = threading.BoundedSemaphore(AT_THE_STORE)
        self._threads = [_vital(self._loop.run_forever), _vital(self._writer.run), _vital(self._end_in_time)]

    def do(self, job_id: int) -> None:
        """Claim, converse, save; a task boundary: what the job raises is recorded on its row."""
        job = self._writer.claim(job_id)
        if job is None:
            return story.refused(job_id, self._process)
        began = time.monotonic()
        story.claimed(job, self._process)
        try:
            commit = self._decide(job)
            accepted = self._writer.commit(self._briefly(lambda: keep(self.store, self.blobs, job, commit)))
            story.saved(job, commit, time.monotonic() - began, accepted=accepted)
        except CancelledError:
            return story.released(job, accepted=self._writer.release(job))
        except StoreFull as full:
            try:
                self._pause(job, str(full))
            finally:
                story.released(job, accepted=self._writer.release(job))
            return None
        except StoreError:
            story.released(job, accepted=self._writer.release(job))
            raise
        except Exception as error:  # noqa: BLE001  (the task boundary)
            says = f"{type(error).__name__}: {error}"
            story.failed(job, says, time.monotonic() - began, accepted=self._writer.fail(job, says))
        self._briefly(lambda: go_on(self.store, job, self.ring))

    def call_off(self) -> None:
        """Cancel every conversation and take no more; may be called in a signal's handler."""
        self._told.set()

    def close(self) -> None:
        """Write what is left, and end the threads."""
        self._writer.close()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._ended.set()
        self._told.set()
        for thread in self._threads:
            thread.join(LAST_SECONDS)

    def _decide(self, job: Claimed) -> Commit:
        module, work = self._briefly(lambda: load(self.store, job))
        return asyncio.run_coroutine_threadsafe(self._converse(job, step_of(module), work), self._loop).result()

    async def _converse(self, job: Claimed, step: Step, work: Any) -> Commit:
        talk = asyncio.current_task()
        assert talk is not None
        self._talks[job] = talk
        if self._told.is_set():
            self._cancel(job)
        limit = asyncio.timeout(self.deadline_seconds)
        try:
            async with limit:
                return await step.converse(work, self.blobs)
        except TimeoutError as error:
            if limit.expired():
                raise StepFailed(f"took longer than {self.deadline_seconds:g} s") from error
            raise
        except (asyncio.CancelledError, SystemExit, KeyboardInterrupt) as error:
            if job in self._called_off:
                raise
            raise StepFailed(f"ended itself by {type(error).__name__}") from error
        finally:
            del self._talks[job]
            self._called_off.discard(job)

    def _pause(self, job: Claimed, why: str) -> None:
        self._briefly(lambda: pause(self.store, job, why, self._process))

    def _lose(self, job: Claimed) -> None:
        self._loop.call_soon_threadsafe(self._cancel, job)

    def _cancel(self, job: Claimed) -> None:
        if job in self._talks:
            self._called_off.add(job)
            self._talks[job].cancel()

    def _cancel_all(self) -> None:
        for job in self._talks:
            self._cancel(job)

    def _end_in_time(self) -> None:
        """Once told, cancel everything; a process that is still there after LAST_SECONDS is ended."""
        self._told.wait()
        if self._ended.is_set():
            return
        self._loop.call_soon_threadsafe(self._cancel_all)
        if not self._ended.wait(LAST_SECONDS):
            held = self._writer.held
            with suppress(StoreError):
                with self.store.write() as session:
                    back = jobs.release(session, held)
                for job in held:
                    story.released(job, accepted=job.id in back)
            os._exit(0)

    def _briefly(self, do: Callable[[], T]) -> T:
        """Do something at the store; few at a time, so that nobody waits for a connection in vain."""
        with self._at_the_store:
            return patiently(do, self._told)


def make_room() -> None:
    """Make a process fit for hundreds of threads and connections; before any of them starts."""
    threading.stack_size(STACK_BYTES)
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    soft = OPEN_FILES if most == resource.RLIM_INFINITY else min(OPEN_FILES, most)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, most))


def _vital(do: Callable[[], Any]) -> threading.Thread:
    """Start a thread without which the process is of no use: if it breaks, the process ends."""

    def run() -> None:
        whole = False
        try:
            do()
            whole = True
        finally:
            if not whole:
                traceback.print_exc()
                os._exit(BROKEN)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread
