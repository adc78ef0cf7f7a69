"""Crash attribution: decide which of the jobs of a dead process is to blame.

If a process with many jobs dies, most of its jobs are innocent. A job that has crashed is a suspect: after each crash,
it shares its next process with fewer other suspects. A job fails at its third crash if no other job ran beside it, or
at its fourth crash in any case: a single external kill never fails a job, and no job crashes more than four times.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, or_, select, update

from jarvis_workers.store.session import Session
from jarvis_workers.store.sql import is_void, now
from jarvis_workers.store.tables import IDLE, JOB, WORKER
from jarvis_workers.store.values import RecoveredJob

ROOM: Mapping[int, int] = {1: 99, 2: 9, 3: 0}
CRASHES_ALONE = 3
CRASHES_AT_ALL = 4


def room_for_suspects(session: Session, process: str, waiting: Sequence[tuple[int, int]]) -> list[int]:
    """Return the ids of those `waiting` jobs, given as (job id, crashes), that may join the suspects of a process."""
    if not any(crashes for _, crashes in waiting):
        return [job for job, _ in waiting]
    running = select(JOB.c.crashes).where(JOB.c.process == process, JOB.c.state == "running", JOB.c.crashes > 0)
    inside = [row.crashes for row in session.execute(running)]
    return choose(inside, waiting)


def choose(inside: Iterable[int], waiting: Sequence[tuple[int, int]]) -> list[int]:
    """Return the ids that may join suspects with the crash counts `inside`; a pure function."""
    suspects = list(inside)
    selection = []
    for job, crashes in waiting:
        if crashes and min([_room(crashes), *map(_room, suspects)]) < len(suspects):
            continue
        selection.append(job)
        if crashes:
            suspects.append(crashes)
    return selection


def _room(crashes: int) -> int:
    return ROOM.get(crashes, 0)


def recover(session: Session) -> list[RecoveredJob]:
    """Recover the jobs whose lease has expired, or was taken before the clock was set back (`clock_steps.bound`)."""
    void = is_void(session, JOB.c.lease_until, JOB.c.lease_seconds)
    return _blame(session, or_(JOB.c.lease_until < now(session), void), "its lease expired")


def recover_dead_workers(session: Session, lease_seconds: float) -> list[RecoveredJob]:
    """Recover the jobs of workers not seen for one lease time; the leases of the jobs themselves may be much longer.

    A job claimed when its worker had been silent for a third of a lease gets no crash count, because an orphaned
    process of a dead worker had claimed it.
    """
    here = select(WORKER.c.id).where(WORKER.c.seen_at > now(session) - lease_seconds)
    is_orphan = JOB.c.worker_id.in_(select(WORKER.c.id)) & JOB.c.worker_id.not_in(here)
    silent_since = select(WORKER.c.seen_at).where(WORKER.c.id == JOB.c.worker_id).scalar_subquery()
    orphaned = JOB.c.started_at > silent_since + lease_seconds / 3
    # Blamed jobs first: attribution counts all jobs of a process.
    blamed = _blame(session, is_orphan & ~orphaned, "its worker disappeared")
    return blamed + _put_back(session, is_orphan & orphaned)


def crash_process(session: Session, process: str, reason: str) -> list[RecoveredJob]:
    """Recover the jobs of a process that is known to be dead."""
    return _blame(session, JOB.c.process == process, reason)


def by_stage(recovered: Iterable[RecoveredJob]) -> list[tuple[str, str, int]]:
    """Return the number of jobs by stage, as (run, stage, jobs)."""
    counts = Counter((job.run_id, job.stage) for job in recovered)
    return [(run, stage, jobs) for (run, stage), jobs in sorted(counts.items())]


def _put_back(session: Session, where: ColumnElement[bool]) -> list[RecoveredJob]:
    named = select(JOB.c.id, JOB.c.run_id, JOB.c.stage, JOB.c.label, JOB.c.process)
    running = named.where(JOB.c.state == "running", where)
    rows = session.execute(running.order_by(JOB.c.id).with_for_update(of=JOB, skip_locked=True)).all()
    if rows:
        back = update(JOB).where(JOB.c.id.in_([row.id for row in rows]))
        session.execute(back.values(state="pending", **IDLE))
    return [RecoveredJob(*row) for row in rows]


def _blame(session: Session, where: ColumnElement[bool], reason: str) -> list[RecoveredJob]:
    named = select(JOB.c.id, JOB.c.run_id, JOB.c.stage, JOB.c.label, JOB.c.process, JOB.c.crashes)
    dead = named.where(JOB.c.state == "running", where)
    rows = session.execute(dead.order_by(JOB.c.id).with_for_update(of=JOB, skip_locked=True)).all()
    inside = _company(session, {row.process for row in rows})
    recovered = [
        RecoveredJob(
            row.id, row.run_id, row.stage, row.label, row.process, condemned(row.crashes + 1, inside[row.process] - 1)
        )
        for row in rows
    ]
    guilty, spared = [[job.id for job in recovered if job.given_up is given_up] for given_up in (True, False)]
    _set(session, guilty, state="failed", finished_at=now(session), reason=f"crashed: {reason}")
    _set(session, spared, state="pending", reason=f"crashed: {reason}")
    return recovered


def _company(session: Session, processes: set[str]) -> Counter[str]:
    """Count the running jobs of each process, including jobs claimed later whose lease has not expired."""
    inside = select(JOB.c.process).where(JOB.c.state == "running", JOB.c.process.in_(processes))
    return Counter(session.execute(inside).scalars())


def condemned(crashes: int, beside: int) -> bool:
    """Return whether a job fails at crash number `crashes`, given that `beside` other jobs were in the process."""
    return crashes >= CRASHES_AT_ALL or (crashes >= CRASHES_ALONE and beside == 0)


def _set(session: Session, ids: Sequence[int], **values: Any) -> None:
    if ids:
        session.execute(update(JOB).where(JOB.c.id.in_(ids)).values(crashes=JOB.c.crashes + 1, **IDLE, **values))
