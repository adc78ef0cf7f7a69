"""The conversation in which a finding was verified."""

import re

from jarvis_workers.errors import UsageError
from jarvis_workers.runs.conversations import find_job
from jarvis_workers.runs.runs import AGENT_SCAN, newest_runs
from jarvis_workers.sec.stages.write_report import list_issues
from jarvis_workers.sec.store import verdicts
from jarvis_workers.store.engine import Store

FINDING_ID = re.compile(r"[CR][0-9a-f]{6,40}")
RUNS_SEARCHED = 20


def find_conversation(store: Store, named: str) -> int:
    """Return the conversation about a finding, given its id, or what `find_job` finds. Raises UsageError."""
    return _job_about(store, named) if FINDING_ID.fullmatch(named) else find_job(store, named)


def _job_about(store: Store, finding_id: str) -> int:
    """Return the newest conversation in which a finding was verified. Raises UsageError."""
    scans = newest_runs(store, RUNS_SEARCHED, kinds=[AGENT_SCAN])
    with store.read() as session:
        for run in scans:
            gid = next((issue.gid for issue in list_issues(session, run) if issue.id == finding_id), None)
            if gid is not None and (job := verdicts.job_of(session, run.id, gid)):
                return job
    raise UsageError(
        f"no conversation about finding {finding_id} in the last {RUNS_SEARCHED} agent scans; to list those of a run:"
        " jarvis runs show RUN"
    )
