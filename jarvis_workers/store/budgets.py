"""Budgets of runs, and the allowances that processes draw from them.

No counter row is updated: the remainder is the cap minus the cost of the run's model calls and the allowances of living
processes. A process reports its allowance at each draw. The allowance of a process without a running job of the run is
void, so the allowance of a dead process is released together with its jobs.
"""

import json
from typing import NamedTuple

from sqlalchemy import Float, Select, cast, func, select

from jarvis_workers.models.ratelimit.budget import PARTS, RunBudget, Unit
from jarvis_workers.store import runs
from jarvis_workers.store.queues import CONVERSATION_QUEUES
from jarvis_workers.store.runs import STEPPED
from jarvis_workers.store.session import Session
from jarvis_workers.store.sql import insert_or_lock, present
from jarvis_workers.store.tables import ACTIVE_RUNS, ALLOWANCE, BUDGET, EVENT, JOB, MODEL_CALL, RUN
from jarvis_workers.store.values import ENDED_RUNS, Claimed

# The reason of a paused run; an explanation follows if the budget is too small for one answer.
REASON = "budget"
SHARE = 100
BEGINNINGS = ("submitted", "resumed", "retried")
ENDS = ("paused", *ENDED_RUNS)


class AllowanceRequest(NamedTuple):
    """A request of a process: `least` is enough for its next answer, `most` also covers later answers.

    `kept` is the part of the process's allowance that it cannot release: reserved for pending answers, or spent but not
    yet saved.
    """

    unit: Unit
    reserved: int
    least: int
    most: int


class BudgetGrant(NamedTuple):
    """The answer to a request.

    If `given` is 0, the process must wait. If `over` is true, the run is paused or the job is lost, and waiting is
    useless.
    """

    amount: int = 0
    over: bool = False


def is_reason(reason: str | None) -> bool:
    """Return whether a run was paused because of its budget."""
    return reason is not None and reason.partition(":")[0] == REASON


def put(session: Session, run_id: str, budget: RunBudget) -> None:
    """Set or change the budget of a run."""
    insert_or_lock(session, BUDGET, {"run_id": run_id, "unit": budget.unit, "cap": budget.cap})


def find(session: Session, run_id: str) -> RunBudget | None:
    """Return the budget of a run, or None."""
    row = session.execute(select(BUDGET.c.unit, BUDGET.c.cap).where(BUDGET.c.run_id == run_id)).first()
    return RunBudget(*row) if row else None


def spent(session: Session, run_id: str, unit: Unit, *, is_left: bool = False) -> int:
    """Return the amount that a run has spent, in parts of the unit; cached answers are free.

    If the run `is_left` (its executor is gone), its time budget is charged only up to its last activity.
    """
    if unit == "s":
        return round(PARTS[unit] * _seconds_on(session, run_id, is_left))
    return round(PARTS[unit] * float(session.execute(_paid(run_id, unit)).scalar_one()))


def spent_on_stage(session: Session, run_id: str, stage: str, unit: Unit) -> int:
    """Return the spending of a stage, in parts of a unit that is charged per answer."""
    paid = _paid(run_id, unit).join(JOB, JOB.c.id == MODEL_CALL.c.job_id).where(JOB.c.stage == stage)
    return round(PARTS[unit] * float(session.execute(paid).scalar_one()))


def _paid(run_id: str, unit: Unit) -> Select[float]:
    """Return the query of what the answers of a run cost, in a unit that is charged per answer."""
    calls = MODEL_CALL.c
    amount = func.sum(calls.cost) if unit == "usd" else func.sum(calls.prompt + calls.completion)
    total = select(cast(func.coalesce(amount, 0), Float(53)))
    return total.where(calls.run_id == run_id, calls.tries > 0)


def draw(session: Session, job: Claimed, wish: AllowanceRequest) -> BudgetGrant:
    """Draw an allowance for the process of a job; pause the run if the budget is exhausted.

    The run is not paused while any process holds an allowance that may be released, or waits for an answer.
    """
    session.execute(select(BUDGET.c.run_id).where(BUDGET.c.run_id == job.run_id).with_for_update())
    budget, process = find(session, job.run_id), _process(session, job)
    if budget is None or budget.unit != wish.unit or process is None:
        return BudgetGrant(over=True)
    others = _others_allowances(session, job.run_id, process)
    share = _share(budget, wish, budget.cap - spent(session, job.run_id, budget.unit), others)
    _hold(session, job.run_id, process, wish.reserved + share)
    if share or others or wish.reserved:
        return BudgetGrant(share)
    small = f": one answer may cost up to {budget.shows(wish.least)}" if wish.least > budget.cap else ""
    runs.pause(session, job.run_id, f"{REASON}{small}")
    return BudgetGrant(over=True)


def _share(budget: RunBudget, wish: AllowanceRequest, unspent: int, others: int) -> int:
    """Return the amount to grant: at most a hundredth of the cap, unless one answer needs more.

    A time budget is not divided: every process gets the whole remainder.
    """
    if budget.unit == "s":
        return max(unspent, 0)
    left = unspent - others - wish.reserved
    return min(max(wish.least, min(wish.most, budget.cap // SHARE)), left) if left >= wish.least else 0


def _process(session: Session, job: Claimed) -> str | None:
    """Return the process of a job, or None if the job was lost or its run is not active."""
    ours = (JOB.c.id == job.id) & (JOB.c.fence == job.fence) & (JOB.c.state == "running")
    process = select(JOB.c.process).join(RUN, RUN.c.id == JOB.c.run_id).where(ours, RUN.c.state.in_(ACTIVE_RUNS))
    return session.execute(process).scalar_one_or_none()


def _others_allowances(session: Session, run_id: str, process: str) -> int:
    busy = select(JOB.c.id).where(JOB.c.run_id == run_id, JOB.c.process == ALLOWANCE.c.process)
    living = busy.where(JOB.c.queue.in_(CONVERSATION_QUEUES), JOB.c.state == "running").exists()
    total = select(func.coalesce(func.sum(ALLOWANCE.c.held), 0)).where(ALLOWANCE.c.run_id == run_id, living)
    return int(session.execute(total.where(ALLOWANCE.c.process != process)).scalar_one())


def _hold(session: Session, run_id: str, process: str, amount: int) -> None:
    insert_or_lock(session, ALLOWANCE, {"run_id": run_id, "process": process, "held": amount})


def _seconds_on(session: Session, run_id: str, is_left: bool) -> float:
    """Return the number of seconds a run was active: neither paused nor ended, and with a living executor.

    A step of the clock is not counted: the start of the interval moves with it.
    """
    query = select(EVENT.c.name, EVENT.c.at, EVENT.c.facts).where(EVENT.c.run_id == run_id, EVENT.c.stage.is_(None))
    events = session.execute(query.where(EVENT.c.name.in_((*BEGINNINGS, *ENDS, STEPPED))).order_by(EVENT.c.id))
    total = 0.0
    since: float | None = None
    for name, at, facts in events:
        if name in BEGINNINGS:
            total += 0.0 if since is None else max(_last_sign(session, run_id, at) - since, 0.0)
            since = at
        elif since is not None and name == STEPPED:
            since += json.loads(facts)["seconds"]
        elif since is not None:
            total, since = total + max(at - since, 0.0), None
    if since is None:
        return total
    moment = present(session)
    return total + max((_last_sign(session, run_id, moment) if is_left else moment) - since, 0.0)


def _last_sign(session: Session, run_id: str, before: float) -> float:
    """Return the time of a run's last activity before `before`."""
    begun = select(func.max(JOB.c.started_at)).where(JOB.c.run_id == run_id, JOB.c.started_at < before)
    ended = select(func.max(JOB.c.finished_at)).where(JOB.c.run_id == run_id, JOB.c.finished_at < before)
    event_time = select(func.max(EVENT.c.at)).where(EVENT.c.run_id == run_id, EVENT.c.at < before)
    return max(float(session.execute(one).scalar_one() or 0.0) for one in (begun, ended, event_time))
