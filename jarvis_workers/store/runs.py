"""Runs, and the state changes that users can request.

An active run is planning, running, paused or cancelling; its final state is done, incomplete, failed or cancelled.
"""

import json
from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Row, delete, func, insert, select, text, update

from jarvis_workers.store import artifacts, events, stages
from jarvis_workers.store.session import Session
from jarvis_workers.store.sql import changed, insert_or_lock, is_future, is_void, now
from jarvis_workers.store.tables import ACTIVE_RUNS, EVENT, JOB, LEASE, RUN, SNAPSHOT, WAITING_JOBS, WORKER
from jarvis_workers.store.values import ENDED_RUNS, PARTIAL_KINDS, Run, SnapshotFacts

# Steps of the database's clock: set by a person, by NTP, by a standby that takes over, by a restored virtual
# machine.

STEPPED = "clock"


def bound(session: Session) -> int:
    """Move heartbeats and starts in the future to now, and shorten leases to their length; return the number of jobs.

    It belongs before the recovery of expired leases, in the same transaction.
    """
    ahead = update(WORKER).where(is_future(session, WORKER.c.seen_at))
    session.execute(ahead.values(seen_at=now(session)))
    running = update(JOB).where(JOB.c.state == "running")
    session.execute(running.where(is_future(session, JOB.c.started_at)).values(started_at=now(session)))
    void = running.where(is_void(session, JOB.c.lease_until, JOB.c.lease_seconds))
    return changed(session, void.values(lease_until=now(session) + JOB.c.lease_seconds))


def record(session: Session, seconds: float) -> None:
    """Record a step in all active runs, since their elapsed times include it."""
    for run_id in session.execute(select(RUN.c.id).where(RUN.c.state.in_(ACTIVE_RUNS))).scalars().all():
        bound_ends(session, run_id)
        events.record(session, run_id, STEPPED, seconds=round(seconds, 3))


def bound_ends(session: Session, run_id: str) -> None:
    """Move ends of jobs in the future to now, so that they remain earlier than what follows."""
    ended = update(JOB).where(JOB.c.run_id == run_id, is_future(session, JOB.c.finished_at))
    session.execute(ended.values(finished_at=now(session)))


def seconds_ahead(session: Session) -> float:
    """Return how far the times of leases and heartbeats lie in the future, at most; 0 if none does."""

    def furthest(time: ColumnElement[float], *where: ColumnElement[bool]) -> float:
        return float(session.execute(select(func.max(time - now(session))).where(*where)).scalar() or 0.0)

    return max(
        0.0,
        furthest(WORKER.c.seen_at),
        furthest(JOB.c.lease_until - JOB.c.lease_seconds, JOB.c.state == "running"),
        furthest(LEASE.c.until - LEASE.c.seconds),
    )


def add(session: Session, run: Run, snapshot: SnapshotFacts, stage_names: Sequence[str]) -> None:
    """Insert a run with its snapshot and its stages; the first stage is open."""
    facts = {name: getattr(snapshot, name) for name in SnapshotFacts.__dataclass_fields__}
    insert_or_lock(session, SNAPSHOT, facts, created_at=now(session))
    fields = {name: getattr(run, name) for name in Run.__dataclass_fields__}
    row = fields | {"options": json.dumps(run.options, sort_keys=True), "created_at": now(session)}
    session.execute(insert(RUN).values(row))
    stages.add(session, run.id, stage_names)
    events.record(session, run.id, "submitted", executor=run.executor)


def get(session: Session, run_id: str) -> Run | None:
    """Return a run, or None."""
    row = session.execute(select(RUN).where(RUN.c.id == run_id)).first()
    return from_row(row) if row else None


def lock(session: Session, run_id: str) -> Run | None:
    """Return a run, locked until the transaction ends, or None."""
    row = session.execute(select(RUN).where(RUN.c.id == run_id).with_for_update()).first()
    return from_row(row) if row else None


def starting_with(session: Session, prefix: str, limit: int = 2) -> list[Run]:
    """Return the runs whose id starts with `prefix`, at most `limit`."""
    query = select(RUN).where(RUN.c.id.startswith(prefix, autoescape=True)).order_by(RUN.c.id).limit(limit)
    return [from_row(row) for row in session.execute(query)]


def kinds(session: Session) -> list[str]:
    """Return the kinds of the runs in the store."""
    return sorted(session.execute(select(RUN.c.kind).distinct()).scalars())


def newest(
    session: Session,
    limit: int,
    *,
    kinds: Collection[str] = (),
    root: bytes | None = None,
    states: Collection[str] = (),
) -> list[Run]:
    """Return the newest runs, newest first, without those that make the crate of a paused run.

    They are ordered by their first events, whose ids increase also if the clock was set back between two runs.
    Only runs of these kinds, over this source tree and in these states are counted, where they are given.
    """
    first = select(func.min(EVENT.c.id)).where(EVENT.c.run_id == RUN.c.id).correlate(RUN).scalar_subquery()
    query = select(RUN).where(RUN.c.kind.not_in(PARTIAL_KINDS))
    query = query.order_by(func.coalesce(first, 0).desc(), RUN.c.created_at.desc(), RUN.c.id).limit(limit)
    if kinds:
        query = query.where(RUN.c.kind.in_(kinds))
    if root is not None:
        query = query.where(RUN.c.root_raw == root)
    if states:
        query = query.where(RUN.c.state.in_(states))
    return [from_row(row) for row in session.execute(query)]


def fetch_mappings(session: Session, statement: str, values: dict[str, object]) -> list[dict[str, Any]]:
    """Run a statement with named parameters; return its rows by column."""
    return [dict(row) for row in session.execute(text(statement), values).mappings()]


def set_label(session: Session, run_id: str, label: str) -> None:
    """Set the label of a run; an empty label removes it."""
    run = lock(session, run_id)
    if run is not None:
        options = {**run.options, "label": label}
        session.execute(update(RUN).where(RUN.c.id == run_id).values(options=json.dumps(options, sort_keys=True)))


def unfinished(session: Session) -> list[str]:
    """Return the ids of the runs that a controller must manage."""
    return list(session.execute(select(RUN.c.id).where(RUN.c.state.in_((*ACTIVE_RUNS, "cancelling")))).scalars())


def snapshot(session: Session, snapshot_id: str) -> SnapshotFacts | None:
    """Return the metadata of a snapshot, or None."""
    row = session.execute(select(SNAPSHOT).where(SNAPSHOT.c.id == snapshot_id)).mappings().first()
    return SnapshotFacts(**{name: row[name] for name in SnapshotFacts.__dataclass_fields__}) if row else None


def start(session: Session, run_id: str) -> None:
    """Set the state of a planned run to running."""
    begun = update(RUN).where(RUN.c.id == run_id, RUN.c.state == "planning")
    session.execute(begun.values(state="running", started_at=now(session)))


def finish(session: Session, run_id: str, state: str, reason: str | None = None) -> None:
    """Set the final state of a run."""
    session.execute(update(RUN).where(RUN.c.id == run_id).values(state=state, reason=reason, ended_at=now(session)))
    events.record(session, run_id, state, reason=reason)


def pause(session: Session, run_id: str, reason: str, *, executor: str | None = None) -> bool:
    """Pause a run: no more jobs are claimed, and the holders of running jobs release them.

    Return False if the run is not active, or if it belongs to another executor than `executor`, if given.
    """
    on = update(RUN).where(RUN.c.id == run_id, RUN.c.state.in_(ACTIVE_RUNS))
    if executor is not None:
        on = on.where(RUN.c.executor == executor)
    if not changed(session, on.values(state="paused", reason=reason)):
        return False
    events.record(session, run_id, "paused", reason=reason)
    return True


def cancel(session: Session, run_id: str) -> bool:
    """Cancel the waiting jobs; running jobs finish, then the controller ends the run. Return False if it has ended."""
    on = update(RUN).where(RUN.c.id == run_id, RUN.c.state.in_((*ACTIVE_RUNS, "paused")))
    if not changed(session, on.values(state="cancelling", reason=None)):
        return False
    cancel_waiting(session, run_id)
    events.record(session, run_id, "cancelling")
    return True


def cancel_waiting(session: Session, run_id: str) -> None:
    """Cancel the unclaimed jobs of a run."""
    waiting = update(JOB).where(JOB.c.run_id == run_id, JOB.c.state.in_(WAITING_JOBS))
    session.execute(waiting.values(state="cancelled", finished_at=now(session)))


def take_up(session: Session, run_id: str, executor: str) -> bool:
    """Resume a paused run, or take over a run whose executor is gone. Return False if it has ended."""
    on = update(RUN).where(RUN.c.id == run_id, RUN.c.state.in_((*ACTIVE_RUNS, "paused")))
    if not changed(session, on.values(_going_on(session, run_id, executor))):
        return False
    bound_ends(session, run_id)
    events.record(session, run_id, "resumed", executor=executor)
    return True


def retry(session: Session, run_id: str, executor: str) -> int:
    """Reset the failed jobs of an ended run and everything that depends on them; return the number of jobs.

    Active, paused and cancelled runs are not changed.
    """
    run = lock(session, run_id)
    if run is None or not run.ended or run.state == "cancelled":
        return 0
    failed = update(JOB).where(JOB.c.run_id == run_id, JOB.c.state == "failed")
    names = set(session.execute(select(JOB.c.stage).where(JOB.c.run_id == run_id, JOB.c.state == "failed")).scalars())
    again = changed(
        session,
        failed.values(state="pending", attempts=0, crashes=0, not_before=now(session), finished_at=None, reason=None),
    )
    if again:
        artifacts.forget(session, run_id)
        stages.reopen(session, run_id, names)
        on = _going_on(session, run_id, executor) | {"ended_at": None}
        session.execute(update(RUN).where(RUN.c.id == run_id).values(on))
        bound_ends(session, run_id)
        events.record(session, run_id, "retried", jobs=again)
    return again


def _going_on(session: Session, run_id: str, executor: str) -> dict[str, Any]:
    """Return the columns of a resumed run; its state becomes running if its first stage has been planned."""
    planned = select(JOB.c.id).where(JOB.c.run_id == run_id, JOB.c.step == "plan", JOB.c.state == "done")
    going: dict[str, Any] = {"state": "planning", "reason": None, "executor": executor}
    if session.execute(planned.limit(1)).first():
        going |= {"state": "running", "started_at": func.coalesce(RUN.c.started_at, now(session))}
    return going


def remove(session: Session, run_id: str) -> bool:
    """Delete an ended run with all its rows; its blobs become unreferenced. Return False if it does not exist."""
    if not changed(session, delete(RUN).where(RUN.c.id == run_id, RUN.c.state.in_(ENDED_RUNS))):
        return False
    artifacts.drop_uses(session, run_id)
    orphaned = ~select(RUN.c.id).where(RUN.c.snapshot_id == SNAPSHOT.c.id).exists()
    free = select(SNAPSHOT.c.id).where(orphaned).with_for_update(skip_locked=True)
    ids = list(session.execute(free).scalars())
    session.execute(delete(SNAPSHOT).where(SNAPSHOT.c.id.in_(ids), orphaned))
    return True


def stalled(session: Session, seconds: float) -> list[tuple[str, float]]:
    """Return (run, seconds) for the active runs in which no job has started or ended for at least `seconds`.

    Times in the future, from before the clock was set back, are not counted; the event of that is.
    """
    moved = func.coalesce(JOB.c.finished_at, JOB.c.started_at)
    last_job = select(func.max(moved)).where(JOB.c.run_id == RUN.c.id, moved <= now(session))
    last_event = select(func.max(EVENT.c.at)).where(EVENT.c.run_id == RUN.c.id, EVENT.c.at <= now(session))
    times = [newest.correlate(RUN).scalar_subquery() for newest in (last_job, last_event)]
    going = select(RUN.c.id, now(session), *times).where(RUN.c.state.in_((*ACTIVE_RUNS, "cancelling")))
    rows = session.execute(going.order_by(RUN.c.id)).all()
    quiet = [(run, time - max(newest or 0.0 for newest in last)) for run, time, *last in rows if any(last)]
    return [(run, float(silent)) for run, silent in quiet if silent > seconds]


def ended_before(session: Session, seconds_ago: float) -> list[str]:
    """Return the ids of the runs that ended more than that many seconds ago."""
    query = select(RUN.c.id).where(RUN.c.state.in_(ENDED_RUNS), RUN.c.ended_at < now(session) - seconds_ago)
    return list(session.execute(query.order_by(RUN.c.id)).scalars())


def submitted_before(session: Session, seconds_ago: float, kinds: Collection[str]) -> list[Run]:
    """Return the runs of these kinds that were submitted more than that many seconds ago."""
    query = select(RUN).where(RUN.c.kind.in_(kinds), RUN.c.created_at < now(session) - seconds_ago)
    return [from_row(row) for row in session.execute(query.order_by(RUN.c.id))]


def from_row(row: Row[Any]) -> Run:
    """Convert a row of the table to a value."""
    fields = {name: getattr(row, name) for name in Run.__dataclass_fields__}
    return Run(**fields | {"options": json.loads(row.options)})
