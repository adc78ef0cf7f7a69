"""The findings of a run as a baseline."""

from collections import Counter
from collections.abc import Mapping

from jarvis_workers.paths import shown
from jarvis_workers.sec.finding import fingerprint_of
from jarvis_workers.sec.runs.scan_input import Baseline
from jarvis_workers.sec.runs.scan_runs import ScanRun
from jarvis_workers.sec.store import candidates
from jarvis_workers.store.engine import Store


def of_run(store: Store, run: ScanRun, what: str, renamed: Mapping[bytes, bytes]) -> Baseline:
    """Return the findings of a scan; `renamed` maps old paths of files to new ones."""
    paths = {shown(old): shown(new) for old, new in renamed.items()}
    counts = Counter[str]()
    with store.read() as session:
        for _, candidate in candidates.read(session, run.id):
            if candidate.suppressed is None:
                counts[
                    fingerprint_of(paths.get(candidate.file, candidate.file), candidate.pattern, candidate.evidence)
                ] += 1
    return Baseline(counts, {"what": what} | ({"state": run.state} if run.state != "done" else {}))
