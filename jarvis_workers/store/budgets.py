"""What a run may spend: its budget, and the allowances that processes draw from it.

There is no row that all write to: what is left is the cap, less what the model calls of the run took, less what living
processes hold.  A process tells anew what it holds whenever it draws.  One that has no job of the run holds nothing,
whatever it said: so the allowance of a process that died comes back when its jobs do.
"""

from typing import NamedTuple

from sqlalchemy import Float, cast, func, select
from sqlmodel import Session

from jarvis_workers.ratelimit.budget import PARTS, RunBudget, Unit
from jarvis_workers.store import runs
from jarvis_workers.store.queues import CONVERSATION_QUEUES
from jarvis_workers.store.sql import insert_or_lock, now
from jarvis_workers.store.tables import ACTIVE_RUNS, ALLOWANCE, BUDGET, ENDED_RUNS, EVENT, JOB, MODEL_CALL, RUN
from jarvis_workers.store.values import Claimed

REASON = "budget"
SHARE = 100
BEGINNINGS = ("submitted", "resumed", "retried")
ENDS = ("paused", *ENDED_RUNS)


class AllowanceRequest(NamedTuple):
    """What a process wants of a budget: `least` for its next answer, and `most` for those that follow.

    `kept` is what it cannot give back: set aside for answers that are on, or not yet saved as spent.
    """

    unit: Unit
    kept: int
    least: int
    most: int


class BudgetGrant(NamedTuple):
    """What came of it: nothing given is to be waited for, unless it is `over`: the run is paused, or the job lost."""

    given: int = 0
    over: bool = False


def put(session: Session, run_id: str, budget: RunBudget) -> None:
    """Set or change what a run may take."""
    insert_or_lock(session, BUDGET, {"run_id": run_id, "unit": budget.unit, "cap": budget.cap})


def find(session: Session, run_id: str) -> RunBudget | None:
    """Return what a run may take, None where it has no budget."""
    row = session.execute(select(BUDGET.c.unit, BUDGET.c.cap).where(BUDGET.c.run_id == run_id)).first()
    return RunBudget(*row) if row else None


def spent(session: Session, run_id: str, unit: Unit, *, is_left: bool = False) -> int:
    """Return what a run has taken so far; answers that were remembered are free.

    Of a run that is left, nobody is there to work on it: its time ends where it last did anything.
    """
    if unit == "s":
        return round(PARTS[unit] * _seconds_on(session, run_id, is_left))
    taken = func.sum(MODEL_CALL.c.cost) if unit == "usd" else func.sum(MODEL_CALL.c.prompt + MODEL_CALL.c.completion)
    paid = select(cast(func.coalesce(taken, 0), Float(53))).where(MODEL_CALL.c.run_id == run_id, MODEL_CALL.c.tries > 0)
    return round(PARTS[unit] * float(session.execute(paid).scalar_one()))


def draw(session: Session, job: Claimed, wish: AllowanceRequest) -> BudgetGrant:
    """Draw an allowance for the process that has a job; if there is nothing left for anybody, pause the run.

    As long as somebody holds something that may come back, or has an answer that is on, the run is not paused.
    """
    session.execute(select(BUDGET.c.run_id).where(BUDGET.c.run_id == job.run_id).with_for_update())
    budget, process = find(session, job.run_id), _process(session, job)
    if budget is None or budget.unit != wish.unit or process is None:
        return BudgetGrant(over=True)
    others = _held_by_others(session, job.run_id, process)
    given = _share(budget, wish, budget.cap - spent(session, job.run_id, budget.unit), others)
    _hold(session, job.run_id, process, wish.kept + given)
    if given or others or wish.kept:
        return BudgetGrant(given)
    runs.pause(session, job.run_id, REASON)
    return BudgetGrant(over=True)


def _share(budget: RunBudget, wish: AllowanceRequest, unspent: int, others: int) -> int:
    """Return what may be given: no more at once than a hundredth of the cap, unless a single answer needs it.

    Time is not shared out: all have what is left of it.
    """
    if budget.unit == "s":
        return max(unspent, 0)
    left = unspent - others - wish.kept
    return min(max(wish.least, min(wish.most, budget.cap // SHARE)), left) if left >= wish.least else 0


def _process(session: Session, job: Claimed) -> str | None:
    """Return the name of the process that has a job; None if the job was lost, or its run is not on."""
    ours = (JOB.c.id == job.id) & (JOB.c.fence == job.fence) & (JOB.c.state == "running")
    held = select(JOB.c.process).join(RUN, RUN.c.id == JOB.c.run_id).where(ours, RUN.c.state.in_(ACTIVE_RUNS))
    return session.execute(held).scalar_one_or_none()


def _held_by_others(session: Session, run_id: str, process: str) -> int:
    busy = select(JOB.c.id).where(JOB.c.run_id == run_id, JOB.c.process == ALLOWANCE.c.process)
    living = busy.where(JOB.c.queue.in_(CONVERSATION_QUEUES), JOB.c.state == "running").exists()
    held = select(func.coalesce(func.sum(ALLOWANCE.c.held), 0)).where(ALLOWANCE.c.run_id == run_id, living)
    return int(session.execute(held.where(ALLOWANCE.c.process != process)).scalar_one())


def _hold(session: Session, run_id: str, process: str, held: int) -> None:
    insert_or_lock(session, ALLOWANCE, {"run_id": run_id, "process": process, "held": held})


def _seconds_on(session: Session, run_id: str, is_left: bool) -> float:
    """Return for how long a run has been on: not while it was paused, had ended, or its command was gone."""
    chosen = select(EVENT.c.name, EVENT.c.at).where(EVENT.c.run_id == run_id, EVENT.c.stage.is_(None))
    found = session.execute(chosen.where(EVENT.c.name.in_((*BEGINNINGS, *ENDS))).order_by(EVENT.c.id))
    total = 0.0
    since: float | None = None
    for name, at in found:
        if name in BEGINNINGS:
            total += 0.0 if since is None else max(_last_sign(session, run_id, at) - since, 0.0)
            since = at
        elif since is not None:
            total, since = total + at - since, None
    if since is None:
        return total
    moment = float(session.execute(select(now(session))).scalar_one())
    return total + max((_last_sign(session, run_id, moment) if is_left else moment) - since, 0.0)


def _last_sign(session: Session, run_id: str, before: float) -> float:
    """Return when a run last did anything: what took it up later found nobody who worked on it."""
    begun = select(func.max(JOB.c.started_at)).where(JOB.c.run_id == run_id, JOB.c.started_at < before)
    ended = select(func.max(JOB.c.finished_at)).where(JOB.c.run_id == run_id, JOB.c.finished_at < before)
    told = select(func.max(EVENT.c.at)).where(EVENT.c.run_id == run_id, EVENT.c.at < before)
    return max(float(session.execute(one).scalar_one() or 0.0) for one in (begun, ended, told))
