"""A test pipeline of conversations that wait for a server instead of a model.

The kind "test.sleep" (an entry point in tests/support/plugins): first `talk` in the agent pool, then `end`. Run as a
module, it is a worker with the settings of its environment.
"""

import asyncio
import json
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jarvis_workers.agents.conversations.runtime import AgentRuntime
from jarvis_workers.errors import StoreFull
from jarvis_workers.pipeline.stages import Stage
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.store.values import Claimed, Commit, NewJob, Run

if TYPE_CHECKING:
    from sqlmodel import Session

KIND = "test.sleep"
MODULE = "tests.executors.dispatch.sleeping"
STAGES = (
    Stage("talk", module=MODULE, queue="agent"),
    Stage("end", module="tests.executors.dispatch.ending", queue="control"),
)


def plan(run: Run, _: Blobs) -> Iterator[NewJob]:
    """Yield `jobs` conversations of `rounds` rounds; conversation number `poison` misbehaves as `evil` names."""
    for number in range(run.options["jobs"]):
        evil = run.options.get("evil") if number == run.options.get("poison") else None
        work = {name: run.options[name] for name in ("port", "rounds", "seconds")} | {"evil": evil}
        yield NewJob("talk", "agent", f"conversation {number}", f"{number:064d}", payload=json.dumps(work))


def load(_: "Session", __: Run, job: Claimed) -> dict[str, Any]:
    """Return the planned input."""
    work: dict[str, Any] = json.loads(job.payload)
    return work


async def converse(work: dict[str, Any], __: Blobs, ___: AgentRuntime) -> Commit:
    """Ask the server repeatedly; each answer takes some time."""
    reader, writer = await asyncio.open_connection("127.0.0.1", work["port"])
    try:
        for _ in range(work["rounds"]):
            writer.write(b"%f\n" % work["seconds"])
            assert await reader.readline() == b"slept\n"
            turn(work["evil"])
    finally:
        writer.close()
    return Commit(files=1)


def turn(evil: str | None) -> None:
    """Misbehave as a broken conversation does."""
    match evil:
        case "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        case "raise":
            raise ValueError("no such luck")
        case "full":
            raise StoreFull("blobs: No space left on device")
        case "exit":
            sys.exit(3)
        case "cancel":
            raise asyncio.CancelledError
        case "block":
            threading.Event().wait()


class Sleeper:
    """A server that reads a number of seconds and answers after that time.

    `most` is the maximum of concurrent requests.
    """

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.port = self.now = self.most = 0

    async def listen(self) -> asyncio.Server:
        server = await asyncio.start_server(self._answer, "127.0.0.1", 0, backlog=1024)
        self.port = server.sockets[0].getsockname()[1]
        return server

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.now += 1
        self.most = max(self.most, self.now)
        try:
            while line := await reader.readline():
                await asyncio.sleep(float(line))
                writer.write(b"slept\n")
        except (ConnectionError, asyncio.CancelledError):
            return
        finally:
            self.now -= 1
            writer.close()


@contextmanager
def sleeper() -> Iterator[Sleeper]:
    """Run the server in a thread during the block."""
    here = Sleeper()
    server = here.loop.run_until_complete(here.listen())
    thread = threading.Thread(target=here.loop.run_forever)
    thread.start()
    try:
        yield here
    finally:
        asyncio.run_coroutine_threadsafe(_close(server), here.loop).result()
        here.loop.call_soon_threadsafe(here.loop.stop)
        thread.join()
        here.loop.close()


async def _close(server: asyncio.Server) -> None:
    server.close()
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)


def work() -> None:
    """Run a worker for this pipeline."""
    from jarvis_workers.operate import worker
    from jarvis_workers.operate.pool_plans import plan_pools
    from jarvis_workers.runs import remote, wiring
    from jarvis_workers.settings import load_settings

    settings = load_settings(directory=Path.cwd())
    plans = plan_pools(settings, ("agent", "control"), None)
    with wiring.store_of(settings) as store, remote.notifier_of(settings) as notifier:
        worker.work(settings, store, notifier, plans)


if __name__ == "__main__":
    work()
