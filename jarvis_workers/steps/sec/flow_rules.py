"""Which rules of `dataflow` a run uses: light, as the engine behind them is for those who run it."""

import json

from jarvis_workers.sec.rules import RULES
from jarvis_workers.snapshots.blobs import Blobs

__all__ = ["NOT_RUN", "USED", "flow_patterns"]

# What is said of a file that only the scan has seen, and of a comment that a scan alone would call of no use.
NOT_RUN = "data-flow rules did not run on it: "
USED = "suppresses a flow rule"


def flow_patterns(blobs: Blobs, chosen: str | None) -> frozenset[str]:
    """Return the flow rules that are on; `chosen` is the blob of the run's rules."""
    off = json.loads(blobs.read(chosen))["off"] if chosen else ()
    return frozenset(rule.pattern for rule in RULES if rule.check is None) - frozenset(off)
