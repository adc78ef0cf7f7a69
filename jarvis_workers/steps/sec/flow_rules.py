"""Which rules of `dataflow` a run uses: light, as the engine behind them is for those who run it."""

import json
from typing import TYPE_CHECKING

from jarvis_workers.sec.rules import RULES
from jarvis_workers.snapshots.blobs import Blobs

if TYPE_CHECKING:
    from jarvis_workers.store.runs import Run

__all__ = ["NOT_RUN", "USED", "flow_patterns", "rules_blob"]

# What is said of a file that only the scan has seen, and of a comment that a scan alone would call of no use.
NOT_RUN = "data-flow rules did not run on it: "
USED = "suppresses a flow rule"


def rules_blob(run: "Run") -> str | None:
    """Return the blob of the run's rules, or None where they are those built in."""
    blob: str | None = run.options.get("rules", {}).get("blob")
    return blob


def flow_patterns(blobs: Blobs, chosen: str | None) -> frozenset[str]:
    """Return the flow rules that are on; `chosen` is the blob of the run's rules."""
    off = json.loads(blobs.read(chosen))["off"] if chosen else ()
    return frozenset(rule.pattern for rule in RULES if rule.check is None) - frozenset(off)
