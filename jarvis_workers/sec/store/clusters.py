"""Clusters: insert the clusters of a job, read the clusters of a run."""

import json
from collections.abc import Sequence

from sqlalchemy import ColumnElement, select
from sqlalchemy import insert as insert_into

from jarvis_workers.paths import shown
from jarvis_workers.sec.store.tables import CLUSTER
from jarvis_workers.store.session import Session
from jarvis_workers.store.sql import storable
from jarvis_workers.store.tables import JOB, MODEL_CALL
from jarvis_workers.store.values import NewCluster


def insert(session: Session, run_id: str, job_id: int, clusters: Sequence[NewCluster]) -> None:
    """Insert the clusters of a job."""
    rows = [
        {
            "run_id": run_id,
            "job_id": job_id,
            "file": shown(cluster.file),
            "file_raw": cluster.file,
            "batch_index": cluster.batch_index,
            "verification": storable(cluster.verification),
            "gids": json.dumps(cluster.gids),
        }
        for cluster in clusters
    ]
    if rows:
        session.execute(insert_into(CLUSTER), rows)


def of_job(session: Session, job_id: int) -> list[NewCluster]:
    """Return the clusters of a job, ordered by their first gids."""
    return _select(session, CLUSTER.c.job_id == job_id)


def made(session: Session, recent: int) -> list[tuple[int, int]]:
    """Return (candidates, clusters) for each of the most recent batches clustered by models, across all runs."""
    query = select(MODEL_CALL.c.job_id).join(JOB, JOB.c.id == MODEL_CALL.c.job_id).distinct()
    query = query.where(JOB.c.stage == "cluster", JOB.c.state == "done")
    last = query.order_by(MODEL_CALL.c.job_id.desc()).limit(recent).subquery()
    result: dict[int, list[int]] = {}
    for job, gids in session.execute(
        select(CLUSTER.c.job_id, CLUSTER.c.gids).join(last, last.c.job_id == CLUSTER.c.job_id)
    ):
        result.setdefault(job, []).append(len(json.loads(gids)))
    return [(sum(sizes), len(sizes)) for sizes in result.values()]


def read(session: Session, run_id: str) -> list[NewCluster]:
    """Return the current clusters of a run, ordered by their first gids."""
    return _select(session, CLUSTER.c.run_id == run_id)


def _select(session: Session, which: ColumnElement[bool]) -> list[NewCluster]:
    columns = (CLUSTER.c.file_raw, CLUSTER.c.batch_index, CLUSTER.c.verification, CLUSTER.c.gids)
    rows = session.execute(select(*columns).where(which))
    document = [NewCluster(file, index, says, tuple(json.loads(gids))) for file, index, says, gids in rows]
    return sorted(document, key=lambda cluster: cluster.gids)
