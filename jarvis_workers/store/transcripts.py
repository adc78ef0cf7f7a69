"""Transcripts of conversations, answers of models, and the cost of model calls.

A process that has lost its job may still write lines: each execution writes under its own fencing token, and if a line
has two versions, the one with the newer token is valid. Saving is idempotent, since it is repeated if its outcome is
unknown.
"""

import secrets
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from sqlalchemy import Float, cast, delete, func, insert, select

from jarvis_workers.store.model_usage import cost_sum
from jarvis_workers.store.session import Session
from jarvis_workers.store.sql import changed, chunked, insert_missing, now
from jarvis_workers.store.tables import ANSWER, JOB, MODEL_CALL, RECORD, SECRET

SECRET_BYTES = 32
MARKS = "marks"
RECENT_JOBS, RECENT_CALLS = 500, 2_000


class TranscriptLine(NamedTuple):
    """Line `number` of a job's transcript, written by the execution with this fencing token."""

    job_id: int
    fence: int
    number: int
    line: bytes


class StoredAnswer(NamedTuple):
    """The answer of a model to the request with this hash."""

    key: str
    text: str


class Forgotten(NamedTuple):
    """The hash of an answer that must not be reused."""

    key: str


class ModelCall(NamedTuple):
    """The cost of a model call: tokens, dollars, seconds; `tries` is 0 for a cached answer.

    A `cost` of None is unknown, because the model has no prices. `estimated` is the estimated number of tokens of the
    prompt before the call, 0 if unknown.
    """

    run_id: str
    job_id: int
    model: str
    prompt: int
    cached: int
    completion: int
    cost: float | None
    seconds: float
    tries: int
    estimated: int = 0


Item = TranscriptLine | StoredAnswer | Forgotten | ModelCall


class Total(NamedTuple):
    """Totals of a run so far; `calls` is the number of answers, `remembered` the number of these that were cached.

    A `cost` of None is unknown, for want of prices.
    """

    calls: int = 0
    remembered: int = 0
    prompt: int = 0
    cached: int = 0
    completion: int = 0
    cost: float | None = 0.0
    seconds: float = 0.0


def save(session: Session, items: Iterable[Item]) -> None:
    """Save items of many conversations. An existing answer is not overwritten until it has been forgotten."""
    kinds: dict[type, list[dict[str, object]]] = {TranscriptLine: [], StoredAnswer: [], Forgotten: [], ModelCall: []}
    for item in items:
        kinds[type(item)].append(item._asdict())
    if kinds[ModelCall]:
        session.connection().execute(insert(MODEL_CALL), kinds[ModelCall])
    insert_missing(session, RECORD, kinds[TranscriptLine])
    insert_missing(session, ANSWER, kinds[StoredAnswer], at=now(session))
    for some in chunked([str(item["key"]) for item in kinds[Forgotten]]):
        session.execute(delete(ANSWER).where(ANSWER.c.key.in_(some)))


def of_existing_jobs(session: Session, items: Sequence[Item]) -> list[Item]:
    """Drop the items of jobs whose run has been removed in the meantime."""
    ids = {item.job_id for item in items if not isinstance(item, StoredAnswer | Forgotten)}
    there = set(session.execute(select(JOB.c.id).where(JOB.c.id.in_(ids))).scalars())
    return [item for item in items if isinstance(item, StoredAnswer | Forgotten) or item.job_id in there]


def lines(session: Session, job_id: int) -> list[bytes]:
    """Return the transcript of a job so far; lines after a gap are ignored."""
    query = select(RECORD.c.fence, RECORD.c.number, RECORD.c.line).where(RECORD.c.job_id == job_id)
    result: list[bytes] = []
    for row in session.execute(query.order_by(RECORD.c.fence, RECORD.c.number)):
        if row.number <= len(result):
            result[row.number :] = [row.line]
    return result


def forget_lines(session: Session, job_ids: Sequence[int]) -> None:
    """Delete the transcripts of conversations that have ended."""
    session.execute(delete(RECORD).where(RECORD.c.job_id.in_(job_ids)))


def answer(session: Session, key: str) -> str | None:
    """Return the cached answer to a request, or None."""
    return session.execute(select(ANSWER.c.text).where(ANSWER.c.key == key)).scalar_one_or_none()


def forget_answers(session: Session, older_than_seconds: float) -> int:
    """Delete answers older than a given age; return their number."""
    return changed(session, delete(ANSWER).where(ANSWER.c.at < now(session) - older_than_seconds))


def total(session: Session, run_id: str) -> Total:
    """Return the totals of a run's model calls."""
    sums = [func.coalesce(func.sum(MODEL_CALL.c[name]), 0) for name in ("prompt", "cached", "completion")]
    columns = [cost_sum(), cast(func.coalesce(func.sum(MODEL_CALL.c.seconds), 0), Float(53))]
    calls = [func.count(), func.count().filter(MODEL_CALL.c.tries == 0)]
    row = session.execute(select(*calls, *sums, *columns).where(MODEL_CALL.c.run_id == run_id)).one()
    return Total(*row) if row[0] else Total()


def recent_usage(session: Session, stage: str) -> list[tuple[int, int, int, int]]:
    """Return (calls, first prompt, all prompts, completions), in tokens, of the most recent jobs of a stage."""
    call = MODEL_CALL.c
    sums = func.count(), func.sum(call.prompt), func.sum(call.completion), func.min(call.id).label("first")
    jobs = select(*sums).join(JOB, JOB.c.id == call.job_id).where(JOB.c.stage == stage, JOB.c.state == "done")
    recent = jobs.group_by(call.job_id).order_by(call.job_id.desc()).limit(RECENT_JOBS).subquery()
    query = select(*recent.c, call.prompt).join(recent, call.id == recent.c.first)
    return [(row[0], row[4], int(row[1]), int(row[2])) for row in session.execute(query)]


def ratio(session: Session) -> float:
    """Return the ratio of counted to estimated tokens in recent calls; 1 if unknown."""
    query = select(MODEL_CALL.c.prompt, MODEL_CALL.c.estimated).where(
        MODEL_CALL.c.tries > 0, MODEL_CALL.c.estimated > 0
    )
    recent = query.order_by(MODEL_CALL.c.id.desc()).limit(RECENT_CALLS).subquery()
    counted, estimated = session.execute(select(func.sum(recent.c.prompt), func.sum(recent.c.estimated))).one()
    return float(counted) / float(estimated) if counted and estimated else 1.0


def secret(session: Session) -> bytes:
    """Return the secret of this store, created by its first conversation."""
    put_secret(session, secrets.token_bytes(SECRET_BYTES))
    value: bytes = session.execute(select(SECRET.c.value).where(SECRET.c.name == MARKS)).scalar_one()
    return value


def put_secret(session: Session, value: bytes) -> None:
    """Set the secret of a store that has none yet."""
    insert_missing(session, SECRET, [{"name": MARKS, "value": value}])
