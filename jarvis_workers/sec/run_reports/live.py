"""Results of agents during a run: each finished conversation is reported once."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from jarvis_workers.paths import shown
from jarvis_workers.sec.judge.canary import CANARY_GID
from jarvis_workers.sec.report import every_issue
from jarvis_workers.sec.report_document import Issue
from jarvis_workers.sec.run_reports.run_files import Row, progress_row
from jarvis_workers.sec.stages.candidates import some_of
from jarvis_workers.sec.stages.judge_options import CLUSTER_STAGE, SEEN_STAGE, VERIFY_STAGE
from jarvis_workers.sec.stages.options import SecOptions
from jarvis_workers.sec.stages.payloads import CandidatesPayload, ClusterPayload, VerifyPayload
from jarvis_workers.sec.stages.verdicts import (
    counted_statuses,
    counted_verdict,
    may_dismiss,
    no_verdict,
    verdicts_by_gid,
)
from jarvis_workers.sec.store import clusters, verdicts
from jarvis_workers.store import events, jobs
from jarvis_workers.store.engine import Store
from jarvis_workers.store.jobs import Over
from jarvis_workers.store.sql import present
from jarvis_workers.store.values import NewCluster, Run

if TYPE_CHECKING:
    from jarvis_workers.store.session import Session


# A commit may become visible later than its timestamp.
VERIFYING = (VERIFY_STAGE, SEEN_STAGE)
LATE_SECONDS = 60.0


@dataclass
class Updates:
    """New results: rows of progress.jsonl, rows of cluster_report.jsonl, and candidates with their verdicts."""

    progress: list[Row] = field(default_factory=list)
    clusters: list[Row] = field(default_factory=list)
    issues: list[Issue] = field(default_factory=list)


class Follower:
    """Tracks which results of a run have been returned."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._finished_jobs: set[int] = set()
        self._events, self._since = 0, 0.0

    def look(self, run: Run, *, issues: bool = True) -> Updates:
        """Return the results since the last call; `issues` are included on request only."""
        updates = Updates()
        with self._store.read() as session:
            happened = events.read(session, run.id)[self._events :]
            over = jobs.over_since(session, run.id, (CLUSTER_STAGE, *VERIFYING), self._since - LATE_SECONDS)
            # Not the newest end: the clock may be set back.
            self._since = present(session)
            new = [job for job in over if job.id not in self._finished_jobs]
            result = {job.id: clusters.of_job(session, job.id) for job in new if job.stage == CLUSTER_STAGE}
            about = {
                gid: job
                for job in new
                if job.stage in VERIFYING
                for gid in CandidatesPayload.from_json(job.payload).gids
            }
            updates.issues = list(_issues(session, run, about)) if issues else []
            statuses = (
                {issue.gid: issue.status for issue in updates.issues} if issues else _statuses(session, run, about)
            )
        updates.clusters = [row for job in new for row in map(cluster_row, result.get(job.id, ()))]
        rows = [progress_row(event, run) for event in happened]
        rows += [row for job in new for row in _rows(job, run, statuses, len(result.get(job.id, ())))]
        updates.progress = sorted(rows, key=lambda row: float(row["at"]))
        self._events += len(happened)
        self._finished_jobs |= {job.id for job in new}
        return updates


def _issues(session: "Session", run: Run, about: Mapping[int, Over]) -> Iterator[Issue]:
    """Yield the candidates of jobs with their verdicts; the numbers of clusters are only known at the end."""
    numbered = some_of(session, run, about) if about else []
    judged = verdicts_by_gid(session, run, about) if about else {}
    believed = may_dismiss(session, run) if about else True
    for issue in every_issue(lambda: numbered, 0.0, severities=SecOptions.of(run).rules.severity):
        job = about[issue.gid]
        verdict = judged.get(issue.gid) or no_verdict(issue.gid, f"its job failed: {job.reason}")
        verdict = counted_verdict(verdict, believed)
        yield issue.with_verdict(verdict, VerifyPayload.from_json(job.payload).verification, None)


def _statuses(session: "Session", run: Run, about: Mapping[int, Over]) -> dict[int, str]:
    """Return the status of each candidate, as in issues."""
    statuses = counted_statuses(session, run, verdicts.statuses(session, run.id)) if about else {}
    return {gid: statuses.get(gid, "undecided") for gid in about if gid != CANARY_GID}


def cluster_row(cluster: NewCluster) -> Row:
    """Return a row of cluster_report.jsonl."""
    return {
        "file": shown(cluster.file),
        "batch_index": cluster.batch_index,
        "verification": cluster.verification,
        "gids": list(cluster.gids),
        "count": len(cluster.gids),
    }


def _rows(job: Over, run: Run, statuses: Mapping[int, str], clustered: int) -> Iterator[Row]:
    """Yield the progress rows for start and end of a conversation."""
    gids = CandidatesPayload.from_json(job.payload).gids
    about: Row = {"run": run.id, "stage": job.stage, "label": job.label, "gids": list(gids)}
    ending = {"status": "done", **({"failed": job.reason} if job.state == "failed" else {}), "at": job.finished_at}
    begins: Sequence[str] = ("batch_selection", "cluster_status") if job.stage == CLUSTER_STAGE else ("batch_status",)
    for name in begins:
        yield {"event": name, "status": "running", **about, "at": job.started_at or job.finished_at}
    if job.stage == CLUSTER_STAGE:
        payload = ClusterPayload.from_json(job.payload)
        about |= {"file": payload.file, "batch_index": payload.batch_index, "clusters": clustered}
        yield {"event": "cluster_status", **ending, **about}
        yield {"event": "cluster_report_snapshot", **ending, **about}
        return
    yield {"event": "batch_status", **ending, **about}
    for gid in gids:
        yield {"event": "task_status", **ending, **about, "gids": [gid], "verdict": statuses.get(gid)}
