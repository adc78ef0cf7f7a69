"""Run conversations in one process, as a command does: URL COUNT HOME NAME; prints one JSON line.

The first conversation, before memory and CPU are measured, records the bodies that the minimal client then sends.
"""

import asyncio
import json
import resource
import sys
import threading
from dataclasses import replace
from pathlib import Path

import psutil
from sqlalchemy import select

from jarvis_workers.agents.conversations.resources import AgentSetup, setup_of
from jarvis_workers.agents.conversations.runtime import ANSWER, AgentRuntime
from jarvis_workers.executors.local.pools import ConversationThread
from jarvis_workers.models.platforms.groups import ModelGroup
from jarvis_workers.models.platforms.registry import Clients, Compatible, Providers, Sdk, Terms
from jarvis_workers.models.platforms.transport import OnLine, Wire
from jarvis_workers.models.ratelimit.gate import LocalLimiter
from jarvis_workers.pipeline.attempt import Done
from jarvis_workers.pipeline.runner import load, save
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.snapshots.resources import open_blobs
from jarvis_workers.store import jobs
from jarvis_workers.store.engine import Store, open_store
from jarvis_workers.store.tables import ARTIFACT
from jarvis_workers.store.values import AGENT_QUEUE
from tests.bench.bare import CLIENT, ask_all
from tests.bench.rounds import ANSWERS, GROUP, add_runs, make_tree, model_at, write_callback

KEEPING = "keeping"
# Of the bodies of a conversation, each a little longer than the one before, every seventh stands for all.
BARE_STEP = 7


class Keeping:
    """A transport that records the requests, and sends them over another one."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self.bodies: list[bytes] = []

    async def send_async(self, body: bytes, seconds: float, on_line: OnLine | None = None) -> bytes:
        self.bodies.append(body)
        return await self._wire.send_async(body, seconds, on_line)


class Command:
    """A command that runs conversations: its store, its blobs, and the transcripts so far."""

    def __init__(self, home: Path, store_url: str, tree: Path) -> None:
        self.home, self.tree = home, tree
        self.store: Store = open_store(store_url, durable=True)
        self.blobs: Blobs = open_blobs(str(home / "blobs"), home / "cache")

    def lead(self, means: AgentSetup, names: list[str]) -> list[int]:
        """Run a conversation for each name and save the results; return the sizes of the transcripts."""
        executor = f"local:{names[0]}"
        add_runs(self.store, self.blobs, self.tree, names, executor)
        with self.store.write() as session:
            claimed = jobs.claim_many(
                session,
                executor=executor,
                queue=AGENT_QUEUE,
                worker_id=names[0],
                process=names[0],
                limit=len(names),
                lease_seconds=600,
            )
        ended, saved = threading.Event(), 0
        talks = AgentRuntime(open_store(self.store.engine.url.render_as_string(), durable=True), means)
        talkers = ConversationThread(talks, self.blobs, ended.set)
        for job in claimed:
            talkers.start(job, *load(self.store, job))
        while saved < len(names):
            ended.wait()
            ended.clear()
            done = [(one.job, one.outcome.commit) for one in talkers.take() if isinstance(one.outcome, Done)]
            saved += len(save(self.store, self.blobs, done))
        talkers.close()
        return self.sizes(names)

    def sizes(self, names: list[str]) -> list[int]:
        """Return the sizes of the transcripts of runs."""
        chosen = select(ARTIFACT.c.size).where(ARTIFACT.c.run_id.in_(names), ARTIFACT.c.name != ANSWER)
        with self.store.read() as session:
            return list(session.execute(chosen).scalars())


def cpu() -> float:
    """Return the CPU seconds of this process so far."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def main(url: str, count: int, home: Path, name: str) -> None:
    """Warm up with one conversation, then measure."""
    command = Command(home, f"sqlite:///{home / 'jarvis.db'}", make_tree(home))
    wire = Keeping(Sdk(Clients(), url, key="k", max_connections=1))

    def keep(group: ModelGroup) -> Compatible:
        return Compatible(
            KEEPING, group.model, wire=wire, gate=LocalLimiter(1), terms=Terms(group.quirks, group.prices)
        )

    means = setup_of({GROUP: model_at(url)}, home / "cache")
    warm = {GROUP: ModelGroup(**model_at(url), platform=KEEPING)}
    command.lead(replace(means, providers=Providers({}, {KEEPING: keep}), groups=warm), [f"{name}warm"])

    noted = setup_of({GROUP: model_at(url)}, home / "cache", [str(write_callback(home))])
    baseline, used = psutil.Process().memory_info().rss, cpu()
    sizes = command.lead(noted, [f"{name}{number}" for number in range(count)])
    used = cpu() - used
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    bodies, bare = wire.bodies[BARE_STEP // 2 :: BARE_STEP], cpu()
    asyncio.run(ask_all(url, bodies, count))
    bare = cpu() - bare
    print(
        json.dumps(
            {
                "kb_each": round((peak - baseline) / count / 1024),
                "transcript_kb": round(sum(sizes) / count / 1024),
                "cpu_ms_a_round": round(used / count / ANSWERS * 1000, 2),
                f"cpu_ms_a_round_of_{CLIENT}": round(bare / count / len(bodies) * 1000, 2),
            }
        )
    )


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]), sys.argv[4])
