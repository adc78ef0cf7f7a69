"""Time to start and end a command inside a running worker, in each tier."""

import statistics
import time
from pathlib import Path

import pytest

from jarvis_workers.sandbox.launcher import Starter
from jarvis_workers.sandbox.limits import Tier
from jarvis_workers.sandbox.sandbox import open_sandbox, refusal

TURNS = 200
MOST_MILLISECONDS = {Tier.A: 40, Tier.B: 15}

pytestmark = pytest.mark.bench


@pytest.mark.parametrize("tier", [Tier.A, Tier.B])
def test_a_command_starts_fast(tier: Tier, tmp_path: Path) -> None:
    if why := refusal(tier):
        pytest.skip(why)
    taken = []
    with Starter() as starter, open_sandbox(tmp_path, tier=tier, starter=starter) as box:
        for _ in range(TURNS):
            began = time.perf_counter()
            assert box.run(["true"]).code == 0
            taken.append(1000 * (time.perf_counter() - began))
    p50, p95 = statistics.median(taken), statistics.quantiles(taken, n=20)[-1]
    print(f"tier {tier}: start to end p50 {p50:.1f} ms, p95 {p95:.1f} ms, best {min(taken):.1f} ms")
    assert p50 <= MOST_MILLISECONDS[tier]
