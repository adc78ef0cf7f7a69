"""The outcomes of the gates of functions, as the jobs of stage `check` leave them."""

import json
from collections.abc import Iterable, Sequence

from jarvis_workers.c2rust.conversion import GateOutcome
from jarvis_workers.c2rust.gates import GateReport
from jarvis_workers.pipeline.history import read_result
from jarvis_workers.snapshots.blobs import Blobs

STEP = "check"
# The name of the blob with the outcomes of a batch.
CHECKED = "checked"


def encode_checked(checked: Sequence[GateReport]) -> bytes:
    """Return outcomes as JSON."""
    return json.dumps(checked).encode()


def read_checked(blobs: Blobs, results: Iterable[str]) -> dict[str, GateReport]:
    """Return the outcomes of all jobs by slot, from the results of the jobs."""
    found: dict[str, GateReport] = {}
    for one in results:
        if name := read_result(blobs, one).blobs.get(CHECKED):
            for slot, gates, calls, log in json.loads(blobs.read(name)):
                found[slot] = GateReport(slot, tuple(GateOutcome(*gate) for gate in gates), calls, log)
    return found


def reached_functions(blobs: Blobs, results: Iterable[str]) -> dict[str, GateOutcome]:
    """Return the outcomes of the gate `reached` that are passed by slot, from the results of all jobs."""
    gates = ((slot, one) for slot, report in read_checked(blobs, results).items() for one in report.gates)
    return {slot: one for slot, one in gates if one.gate == "reached" and one.passed}
