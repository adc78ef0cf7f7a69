"""CPU times of other processes, and another scanner for comparison."""

import resource
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from tests.support.servers import missing


def cpu_of_children(work: Callable[[], object]) -> float:
    """Return the CPU seconds of the processes that `work` starts and waits for."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    work()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def flawfinder(tree: Path) -> None:
    program = shutil.which("flawfinder") or missing("flawfinder")
    subprocess.run([program, "-Q", "-S", "--dataonly", tree], stdout=subprocess.DEVNULL, check=True)
