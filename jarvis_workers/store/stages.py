"""Stages of runs, and counts for progress displays; a stage is open as long as any of its jobs is."""

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, case, delete, distinct, func, insert, select, update

from jarvis_workers.store import translated_functions
from jarvis_workers.store.model_usage import cost_sum
from jarvis_workers.store.queues import CONVERSATION_QUEUES
from jarvis_workers.store.session import Session
from jarvis_workers.store.sql import changed, now
from jarvis_workers.store.tables import JOB, MODEL_CALL, OPEN_JOBS, STAGE, WAITING_JOBS
from jarvis_workers.store.values import StageProgress


def add(session: Session, run_id: str, names: Sequence[str]) -> None:
    """Insert the stages of a run and open the first one."""
    session.execute(
        insert(STAGE), [{"run_id": run_id, "name": name, "ordinal": n, "state": "open"} for n, name in enumerate(names)]
    )
    opened(session, run_id, names[0])


def opened(session: Session, run_id: str, name: str) -> None:
    """Record the time when a stage was opened."""
    session.execute(update(STAGE).where(STAGE.c.run_id == run_id, STAGE.c.name == name).values(opened_at=now(session)))


def names(session: Session, run_id: str) -> list[str]:
    """Return the names of a run's stages in order."""
    own = select(STAGE.c.name).where(STAGE.c.run_id == run_id)
    return list(session.execute(own.order_by(STAGE.c.ordinal)).scalars())


def current(session: Session, run_id: str) -> str | None:
    """Return the first open stage, or None."""
    first = select(STAGE.c.name).where(STAGE.c.run_id == run_id, STAGE.c.state == "open")
    return session.execute(first.order_by(STAGE.c.ordinal).limit(1)).scalar_one_or_none()


def following(session: Session, run_id: str, name: str) -> str | None:
    """Return the stage after `name`, or None."""
    here = select(STAGE.c.ordinal).where(STAGE.c.run_id == run_id, STAGE.c.name == name).scalar_subquery()
    after = select(STAGE.c.name).where(STAGE.c.run_id == run_id, STAGE.c.ordinal == here + 1)
    return session.execute(after).scalar_one_or_none()


def close(session: Session, run_id: str, name: str) -> bool:
    """Close a stage; return False if another process has closed it."""
    shut = update(STAGE).where(STAGE.c.run_id == run_id, STAGE.c.name == name, STAGE.c.state == "open")
    return changed(session, shut.values(state="closed", closed_at=now(session))) == 1


def reopen(session: Session, run_id: str, names: Collection[str]) -> None:
    """Reopen stages, and delete the jobs that later stages derived from their results.

    A streamed stage keeps its jobs, since they are children of the previous stage's jobs.
    """
    own = select(STAGE.c.ordinal).where(STAGE.c.run_id == run_id, STAGE.c.name.in_(names))
    first = min(session.execute(own).scalars())
    later = select(STAGE.c.name).where(STAGE.c.run_id == run_id, STAGE.c.ordinal > first)
    planned = select(JOB.c.stage).where(JOB.c.run_id == run_id, JOB.c.step == "plan")
    streamed = later.where(STAGE.c.ordinal == first + 1, STAGE.c.name.not_in(planned))
    session.execute(delete(JOB).where(JOB.c.run_id == run_id, JOB.c.stage.in_(later), JOB.c.stage.not_in(streamed)))
    again = update(STAGE).where(STAGE.c.run_id == run_id, STAGE.c.ordinal >= first)
    session.execute(again.values(state="open", closed_at=None))


def open_jobs(session: Session, run_id: str, name: str | None = None) -> int:
    """Return the number of pending, sent or running jobs of a stage or of the whole run."""
    query = select(func.count()).select_from(JOB).where(JOB.c.run_id == run_id, JOB.c.state.in_(OPEN_JOBS))
    return int(session.execute(query if name is None else query.where(JOB.c.stage == name)).scalar_one())


def has_open_jobs(session: Session, run_id: str, name: str) -> bool:
    """Return whether a stage has an open job, without counting its jobs."""
    query = select(JOB.c.id).where(JOB.c.run_id == run_id, JOB.c.stage == name, JOB.c.state.in_(OPEN_JOBS))
    # The ordering makes PostgreSQL use the index; otherwise it would scan the table for one row of many.
    first = query.where(JOB.c.state >= min(OPEN_JOBS)).order_by(JOB.c.state).limit(1)
    return session.execute(first).first() is not None


def failed_plan(session: Session, run_id: str, name: str) -> str | None:
    """Return the reason why the plan job of a stage failed, or None."""
    plan = select(JOB.c.reason).where(JOB.c.run_id == run_id, JOB.c.stage == name, JOB.c.step == "plan")
    return session.execute(plan.where(JOB.c.state == "failed")).scalar_one_or_none()


def failure(session: Session, run_id: str, name: str) -> str | None:
    """Return the reason of the first failed job of a stage, or None."""
    failed = select(JOB.c.reason).where(JOB.c.run_id == run_id, JOB.c.stage == name, JOB.c.state == "failed")
    return session.execute(failed.order_by(JOB.c.id).limit(1)).scalar_one_or_none()


def progress(session: Session, run_id: str) -> list[StageProgress]:
    """Return the progress of each stage of a run, in order."""
    # The weight of a conversation is its importance, not a size.
    sized = JOB.c.queue.not_in(CONVERSATION_QUEUES)
    counted = {
        "jobs": func.count(),
        "done": _sum(JOB.c.state == "done"),
        "failed": _sum(JOB.c.state == "failed"),
        "running": _sum(JOB.c.state == "running"),
        "weight": func.sum(case((sized, JOB.c.weight), else_=0)),
        "weight_done": func.sum(case((sized & JOB.c.state.in_(("done", "failed")), JOB.c.weight), else_=0)),
        **{
            name: func.sum(JOB.c[name])
            for name in ("files", "bytes", "not_checked", "cached", "crashes", "cpu_seconds")
        },
    }
    grouped = select(JOB.c.stage, *[value.label(name) for name, value in counted.items()])
    grouped = grouped.where(JOB.c.run_id == run_id, JOB.c.step != "plan").group_by(JOB.c.stage)
    result = {row["stage"]: row for row in session.execute(grouped).mappings()}
    paid, times = _paid(session, run_id), _conversation_times(session, run_id)
    proofs = translated_functions.proofs(session, run_id)
    own = select(STAGE).where(STAGE.c.run_id == run_id).order_by(STAGE.c.ordinal)
    return [
        StageProgress(
            name=row["name"],
            state=row["state"],
            opened_at=row["opened_at"],
            closed_at=row["closed_at"],
            **{name: _number(name, result[row["name"]][name]) for name in counted if row["name"] in result},
            **_spending(paid.get(row["name"]), times.get(row["name"])),
            **_estimates(times.get(row["name"])),
            proofs=proofs.get(row["name"], {}),
        )
        for row in session.execute(own).mappings()
    ]


class ConversationTimes(NamedTuple):
    """The conversations of a stage: their numbers, and seconds.

    `mean` and `longest` are durations of those that are done, None without one; `newest` is the time for which the
    youngest running one has run.
    """

    waiting: int
    running: int
    mean: float | None
    longest: float | None
    newest: float | None


def _conversation_times(session: Session, run_id: str) -> dict[str, ConversationTimes]:
    """Return the times of the conversations of each stage."""
    done = case((JOB.c.state == "done", JOB.c.finished_at - JOB.c.started_at))
    newest = now(session) - func.max(case((JOB.c.state == "running", JOB.c.started_at)))
    numbers = _sum(JOB.c.state.in_(WAITING_JOBS)), _sum(JOB.c.state == "running")
    query = select(JOB.c.stage, *numbers, func.avg(done), func.max(done), newest)
    own = query.where(JOB.c.run_id == run_id, JOB.c.queue.in_(CONVERSATION_QUEUES), JOB.c.step != "plan")
    return {
        row[0]: ConversationTimes(int(row[1]), int(row[2]), *row[3:])
        for row in session.execute(own.group_by(JOB.c.stage))
    }


def _estimates(times: ConversationTimes | None) -> dict[str, Any]:
    if times is None or times.mean is None:
        return {}
    return {"mean_seconds": float(times.mean), "seconds_left": longest_chain(times)}


def longest_chain(times: ConversationTimes) -> float:
    """Estimate the seconds until the last conversation of a stage ends; 0 if nothing is known or left.

    max(remaining x mean / concurrency, L), the lower bound of list scheduling (Graham 1969): `remaining` conversations
    wait or run, `concurrency` is the number that run now, and L is the longest that a remaining one may last, which is
    the longest duration so far, less the time that it has run already.
    """
    if not (times.mean and times.longest and times.running):
        return 0.0
    newest = 0.0 if times.waiting else float(times.newest or 0.0)
    work = (times.waiting + times.running) * float(times.mean) / times.running
    return max(work, float(times.longest) - newest)


class PaidAnswers(NamedTuple):
    """The answers of a stage that are not cached: their tokens and dollars, and those of the jobs that are done."""

    tokens: int
    cost: float | None
    jobs_done: int
    tokens_done: int


def _paid(session: Session, run_id: str) -> dict[str, PaidAnswers]:
    tokens, is_done = MODEL_CALL.c.prompt + MODEL_CALL.c.completion, JOB.c.state == "done"
    sums = func.sum(tokens), cost_sum(), func.count(distinct(case((is_done, JOB.c.id))))
    query = select(JOB.c.stage, *sums, func.sum(case((is_done, tokens), else_=0)))
    query = query.join(JOB, JOB.c.id == MODEL_CALL.c.job_id)
    query = query.where(MODEL_CALL.c.run_id == run_id, MODEL_CALL.c.tries > 0).group_by(JOB.c.stage)
    return {
        stage: PaidAnswers(int(tokens), cost, int(jobs), int(done))
        for stage, tokens, cost, jobs, done in session.execute(query)
    }


def _spending(paid: PaidAnswers | None, times: ConversationTimes | None) -> dict[str, Any]:
    """Return what a stage has spent, and what is left if the other jobs take what those take that are done."""
    if paid is None:
        return {}
    spent = {"tokens": paid.tokens, "cost": paid.cost}
    if times is None or not paid.jobs_done:
        return spent
    whole = (times.waiting + times.running) * paid.tokens_done / paid.jobs_done
    return spent | {"tokens_left": max(round(whole) - (paid.tokens - paid.tokens_done), 0)}


def _sum(condition: ColumnElement[bool]) -> ColumnElement[int]:
    return func.sum(case((condition, 1), else_=0))


def _number(name: str, value: Any) -> Any:
    return float(value) if name == "cpu_seconds" else int(value)
