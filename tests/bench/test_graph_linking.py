"""Time to link and order a graph of 50,000 symbols and 500,000 edges."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROGRAM = """
import random, resource, time
from jarvis_workers.c2rust.graph import link_units
from jarvis_workers.c2rust.order import translation_order
from jarvis_workers.source.clang.unit import Reference
from tests.c2rust.projects import symbol, unit

def units(size=200):
    choose = random.Random(1)
    for first in range(0, 50_000, size):
        file = f"src/dir{first % 17}/file{first}.c"
        symbols = [symbol(f"function_{number}", file, number) for number in range(first, first + size)]
        targets = ((one.key, f"c:@f@function_{choose.randrange(50_000)}") for one in symbols for _ in range(10))
        yield unit(file, symbols, [Reference(*pair, "call") for pair in targets])

graph = link_units(units())
steps = translation_order(graph)
seconds = resource.getrusage(resource.RUSAGE_SELF).ru_utime
# Not ru_maxrss: that of a new program begins with the memory of the process that started it.
(peak,) = (line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(len(graph.symbols), len(graph.edges), sum(len(step.ids) for step in steps), int(peak) // 1024, seconds)
"""


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_half_a_million_edges_are_linked_and_ordered_within_limits() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], cwd=ROOT, capture_output=True, text=True, check=True)
    symbols, edges, ordered, megabytes, seconds = map(float, done.stdout.split())

    assert (symbols, ordered) == (50_000, 50_000)
    assert edges > 499_000
    assert megabytes < 400
    assert seconds < 60
