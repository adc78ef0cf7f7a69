"""Conversations in one process, measured: URL WIRE COUNT ROUNDS SECONDS HOME; prints one JSON line."""

import asyncio
import json
import resource
import sys
import time
from pathlib import Path

import psutil

from jarvis_workers.agent.drivers import World, drive_async
from jarvis_workers.agent.journal import Journal
from jarvis_workers.agent.limits import Limits
from jarvis_workers.agent.transcript import Transcript
from jarvis_workers.platforms.compatible import Compatible, Terms
from jarvis_workers.platforms.limiter import Gate
from jarvis_workers.platforms.profiles import Prices
from jarvis_workers.platforms.wire import Wire
from jarvis_workers.tools.reading import read_code
from jarvis_workers.tools.tree import DirectoryTree
from tests.agents.arrange import NATIVE, agent_of, wire_to
from tests.bench.loopwire import LoopWire

LIMITS = Limits(rounds=1_000, tool_calls=1_000, compact_rounds=1_000, compact_messages=1_000, seconds=600)

BARE_ROUNDS, USUAL_WORDS = 3, 4_000


def cpu() -> float:
    """CPU seconds of this process so far."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


async def converse(wire: Wire, count: int, home: Path) -> list[float]:
    """Lead so many conversations; return how long each took from its first answer on."""
    platform = Compatible("bench", "m", wire=wire, gate=Gate(10_000), terms=Terms(NATIVE, Prices()))
    journal = Journal(home / "journal")
    tool = read_code(DirectoryTree(home / "tree"), "blanked")

    async def one(number: int) -> float:
        agent = agent_of(tool, limits=LIMITS)
        transcript = Transcript(journal.page(str(number)), {"number": number})
        began = time.monotonic()
        result = await drive_async(agent.run(f"Number {number}."), World(platform, agent.tools, transcript))
        assert result.text == "done"
        return time.monotonic() - began

    try:
        return await asyncio.gather(*map(one, range(count)))
    finally:
        journal.close()


async def ask_only(wire: Wire, count: int, rounds: int) -> None:
    """Send as many requests of the usual size, and do nothing else."""
    body = {"model": "m", "messages": [{"role": "user", "content": "word " * USUAL_WORDS}]}

    async def one() -> None:
        for _ in range(rounds):
            await wire.send_async(body, 600)

    await asyncio.gather(*(one() for _ in range(count)))


def main(url: str, wire: str, count: int, rounds: int, seconds: float, home: Path) -> None:
    """Warm up with one conversation, then measure."""
    client = LoopWire(url) if wire == "loop" else wire_to(url, wire)
    with asyncio.Runner() as runner:
        (home / "warm").mkdir()
        (home / "warm" / "tree").symlink_to(home / "tree")
        runner.run(converse(client, 1, home / "warm"))
        baseline, used, began = psutil.Process().memory_info().rss, cpu(), time.monotonic()
        took = runner.run(converse(client, count, home))
        wall, used = time.monotonic() - began, cpu() - used
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        bare = cpu()
        runner.run(ask_only(client, count, BARE_ROUNDS))
        bare = cpu() - bare
    ideal = (rounds + 1) * seconds
    print(
        json.dumps(
            {
                "wall": round(wall, 2),
                "of_ideal": round(ideal / (sum(took) / len(took)), 4),
                "of_ideal_wall": round(ideal / wall, 4),
                "kb_each": round((peak - baseline) / count / 1024),
                "cpu_ms_a_round": round(used / count / (rounds + 1) * 1000, 2),
                "of_it_asking": round(bare / count / BARE_ROUNDS * 1000, 2),
            }
        )
    )


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], *map(int, sys.argv[3:5]), float(sys.argv[5]), Path(sys.argv[6]))
