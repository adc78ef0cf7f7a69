"""The flow rules of a run; this module does not import the data-flow engine."""

import json

from jarvis_workers.sec.rules import RULES
from jarvis_workers.snapshots.blobs import Blobs

# The reason for files that only the scan has checked, and the remark on comments that only the scan finds unused.
NOT_RUN = "data-flow rules did not run on it: "
USED = "suppresses a flow rule"


def flow_patterns(blobs: Blobs, rules: str | None) -> frozenset[str]:
    """Return the enabled flow rules; `rules` is the blob of the run's rules."""
    off = json.loads(blobs.read(rules))["off"] if rules else ()
    return frozenset(rule.pattern for rule in RULES if rule.check is None) - frozenset(off)
