"""Usage statistics of a run's model calls, by stage and by latency, for reports; `transcripts` writes the rows."""

from collections.abc import Collection
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Float, case, cast, func, select

from jarvis_workers.store.session import Session
from jarvis_workers.store.sql import chunked
from jarvis_workers.store.tables import JOB, MODEL_CALL

# Upper bounds of the latency histogram in seconds; the last bucket is unbounded.
BOUNDS = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0)


def cost_sum() -> ColumnElement[float | None]:
    """The cost of calls in dollars; NULL if that of a call is unknown."""
    cost = MODEL_CALL.c.cost
    return case((func.count() > func.count(cost), None), else_=cast(func.sum(cost), Float(53)))


def by_stage(session: Session, run_id: str) -> dict[str, dict[str, Any]]:
    """Return calls, tokens, dollars and seconds by stage."""
    return _grouped(session, run_id, JOB.c.stage)


def by_model(session: Session, run_id: str) -> dict[str, dict[str, Any]]:
    """Return calls, tokens, dollars and seconds by model."""
    return _grouped(session, run_id, MODEL_CALL.c.model)


def by_label(session: Session, run_id: str, stages: Collection[str]) -> dict[str, dict[str, Any]]:
    """Return calls, tokens, dollars and seconds by the label of jobs of some stages."""
    return _grouped(session, run_id, JOB.c.label, JOB.c.stage.in_(stages))


def _grouped(
    session: Session, run_id: str, column: ColumnElement[str], *conditions: ColumnElement[bool]
) -> dict[str, dict[str, Any]]:
    tokens = [func.sum(MODEL_CALL.c[name]).label(name) for name in ("prompt", "cached", "completion")]
    sums = [cost_sum().label("cost"), cast(func.sum(MODEL_CALL.c.seconds), Float(53)).label("seconds")]
    query = select(column.label("name"), func.count().label("calls"), *tokens, *sums)
    joined = query.join(JOB, JOB.c.id == MODEL_CALL.c.job_id).where(MODEL_CALL.c.run_id == run_id, *conditions)
    return {
        row.name: {
            **{name: int(getattr(row, name)) for name in ("calls", "prompt", "cached", "completion")},
            "cost": None if row.cost is None else round(row.cost, 6),
            "seconds": round(row.seconds, 3),
        }
        for row in session.execute(joined.group_by(column).order_by(column))
    }


class RunUsage(NamedTuple):
    """The usage of a run: answers, tokens, dollars (None if unknown)."""

    calls: int
    tokens: int
    cost: float | None


def by_run(session: Session, run_ids: Collection[str]) -> dict[str, RunUsage]:
    """Return the usage of each run that called a model."""
    tokens = func.sum(MODEL_CALL.c.prompt + MODEL_CALL.c.completion)
    columns = MODEL_CALL.c.run_id, func.count(), tokens, cost_sum()
    result: dict[str, RunUsage] = {}
    for some in chunked(run_ids):
        rows = session.execute(select(*columns).where(MODEL_CALL.c.run_id.in_(some)).group_by(MODEL_CALL.c.run_id))
        result |= {row[0]: RunUsage(row[1], int(row[2]), row[3]) for row in rows}
    return result


def latency(session: Session, run_id: str) -> list[dict[str, Any]]:
    """Return the latency histogram, from the first bucket with calls to the last.

    Cached answers are not counted.
    """
    seconds, ends = MODEL_CALL.c.seconds, (*BOUNDS, None)
    starts = (None, *BOUNDS)
    within = [
        func.count().filter(*([seconds > low] if low else []), *([seconds <= high] if high else []))
        for low, high in zip(starts, ends, strict=True)
    ]
    query = select(*within).where(MODEL_CALL.c.run_id == run_id, MODEL_CALL.c.tries > 0)
    result = [{"to": end, "calls": number} for end, number in zip(ends, session.execute(query).one(), strict=True)]
    there = [place for place, one in enumerate(result) if one["calls"]]
    return result[there[0] : there[-1] + 1] if there else []
