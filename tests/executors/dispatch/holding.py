"""A process that acquires slots of a model and holds them until it is killed: URL HOLDER MOST WANTED LEASE.

It prints a line for each slot that it gets.
"""

import sys
import threading
from contextlib import ExitStack

from jarvis_workers.executors.dispatch.ratelimit.client import SharedLimits
from jarvis_workers.models.ratelimit.policy import ModelKey, RateLimitPolicy
from tests.agents.loop.arrange import slot

MODEL = ModelKey("http://there/v1", "m")
PATIENCE = 60.0


def main(url: str, holder: str, most: int, wanted: int, lease: float) -> None:
    """Hold the slots until killed."""
    limits = SharedLimits(url, holder, lease_seconds=lease)
    gate = limits.limiter(MODEL, RateLimitPolicy(most))
    threading.Thread(target=limits.run, daemon=True).start()
    with ExitStack() as held:
        for _ in range(wanted):
            held.enter_context(slot(gate, PATIENCE))
            print("in", flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], *map(int, sys.argv[3:5]), float(sys.argv[5]))
