"""Run an attack in a sandbox and measure what the machine loses meanwhile: memory, processes, space of the disk.

Runs on this machine and in a virtual one (machine.py): it imports the standard library and the sandbox alone.
"""

import os
import re
import shutil
import sys
import threading
import time
from pathlib import Path
from typing import NamedTuple

from jarvis_workers.sandbox.limits import MEGABYTE, SandboxLimits, Tier
from jarvis_workers.sandbox.sandbox import Sandbox

LIMITS = SandboxLimits(
    wall_seconds=15,
    cpu_seconds=15,
    memory_bytes=256 * MEGABYTE,
    processes=64,
    file_bytes=4 * MEGABYTE,
    files=256,
    scratch_bytes=64 * MEGABYTE,
    address_bytes=1 << 44,
)
ATTACKS = Path(__file__).parent / "attacks.py"
PROCESSES = 24
SAMPLE_SECONDS = 0.003
SETTLE_SECONDS = 0.3
MEMORY = re.compile(r"^(MemAvailable|Shmem): +(\d+) kB$", re.MULTILINE)


class Excess(NamedTuple):
    """The most that an attack has taken from the machine, its tier, and the limit that ended it.

    `scratch_bytes` is what the disk or the file systems in memory have lost.
    """

    attack: str
    tier: str
    memory_bytes: int
    tasks: int
    scratch_bytes: int
    reason: str | None
    seconds: float
    code: int | None = None
    output: str = ""


class _Sampler(threading.Thread):
    """Measures until it is ended."""

    def __init__(self, disk: str) -> None:
        super().__init__(daemon=True)
        self._disk, self._ended = disk, threading.Event()
        self._first = self._sample()
        self.memory_bytes = self.tasks = self.scratch_bytes = 0

    def run(self) -> None:
        while not self._ended.wait(SAMPLE_SECONDS):
            memory, tasks, disk, shared = self._sample()
            self.memory_bytes = max(self.memory_bytes, self._first[0] - memory)
            self.tasks = max(self.tasks, tasks - self._first[1])
            self.scratch_bytes = max(self.scratch_bytes, self._first[2] - disk, shared - self._first[3])

    def end(self) -> None:
        self._ended.set()
        self.join()

    def _sample(self) -> tuple[int, int, int, int]:
        facts = {name: 1024 * int(size) for name, size in MEMORY.findall(Path("/proc/meminfo").read_text())}
        tasks = int(Path("/proc/loadavg").read_text().split()[3].partition("/")[2])
        return facts["MemAvailable"], tasks, shutil.disk_usage(self._disk).free, facts["Shmem"]


def run_attack(name: str, tier: Tier, place: Path, limits: SandboxLimits = LIMITS) -> Excess:
    """Run one attack over a new tree below `place`, on an otherwise idle machine."""
    tree = place / f"{name}-{tier}-{os.getpid()}"
    tree.mkdir(mode=0o755)
    shutil.copy(ATTACKS, tree / "attacks.py")
    with Sandbox(os.path.realpath(tree), tier, scratch_bytes=limits.scratch_bytes) as box:
        box.run(["true"])
        time.sleep(SETTLE_SECONDS)
        sampler = _Sampler(str(place))
        sampler.start()
        outcome = box.run(
            [os.path.realpath(sys.executable), "-I", "-S", "attacks.py", name, str(PROCESSES)], limits=limits
        )
        sampler.end()
    return Excess(
        name,
        tier,
        sampler.memory_bytes,
        sampler.tasks,
        sampler.scratch_bytes,
        outcome.reason,
        outcome.seconds,
        outcome.code,
        outcome.stderr.decode(errors="replace")[-500:],
    )
