"""The history of triage commands: the verdicts before each command, for undo.

Only the newest OPERATIONS_MAX operations of each user are stored.
"""

from collections.abc import Mapping
from typing import NamedTuple

from sqlalchemy import delete, insert, select

from jarvis_workers.sec.store.tables import TRIAGE_CHANGE, TRIAGE_OPERATION
from jarvis_workers.sec.triage_record import Judgement
from jarvis_workers.store.session import Session
from jarvis_workers.store.sql import now, storable

OPERATIONS_MAX = 20


class TriageChange(NamedTuple):
    """The verdict on a fingerprint before an operation, and the time of the verdict after it; None if there is none."""

    before: Judgement | None
    after_at: float | None


class Operation(NamedTuple):
    """The changes of one command by fingerprint; `change` describes them in words."""

    id: int
    change: str
    by: str
    at: float
    changes: Mapping[str, TriageChange]


class PastOperation(NamedTuple):
    """The part of an operation that concerns one finding: the verdict `before` the operation, or None."""

    change: str
    by: str
    at: float
    before: Judgement | None


def record(session: Session, change: str, by: str, changes: Mapping[str, TriageChange]) -> int:
    """Record an operation and delete the user's oldest ones; return its id."""
    row = {"change": storable(change), "by": storable(by), "at": session.execute(select(now(session))).scalar_one()}
    made = session.execute(insert(TRIAGE_OPERATION).returning(TRIAGE_OPERATION.c.id), row).scalar_one()
    rows = [
        {"operation_id": made, "fingerprint": name, "before": _text(one.before), "after_at": one.after_at}
        for name, one in changes.items()
    ]
    session.execute(insert(TRIAGE_CHANGE), rows)
    theirs = select(TRIAGE_OPERATION.c.id).where(TRIAGE_OPERATION.c.by == row["by"])
    for old in list(session.execute(theirs.order_by(TRIAGE_OPERATION.c.id.desc()).offset(OPERATIONS_MAX)).scalars()):
        drop(session, old)
    return int(made)


def latest(session: Session, by: str) -> Operation | None:
    """Return the newest operation of a user that has not been undone, or None."""
    query = select(TRIAGE_OPERATION).where(TRIAGE_OPERATION.c.by == storable(by))
    row = session.execute(query.order_by(TRIAGE_OPERATION.c.id.desc()).limit(1)).mappings().first()
    if row is None:
        return None
    changes = select(TRIAGE_CHANGE).where(TRIAGE_CHANGE.c.operation_id == row["id"])
    result = {
        one["fingerprint"]: TriageChange(_judgement(one["before"]), one["after_at"])
        for one in session.execute(changes).mappings()
    }
    return Operation(changes=result, **row)


def of_fingerprint(session: Session, fingerprint: str) -> list[PastOperation]:
    """Return the operations that changed the verdict on a fingerprint, newest first."""
    columns = [TRIAGE_OPERATION.c[name] for name in ("change", "by", "at")]
    query = select(*columns, TRIAGE_CHANGE.c.before).join(
        TRIAGE_CHANGE, TRIAGE_CHANGE.c.operation_id == TRIAGE_OPERATION.c.id
    )
    rows = session.execute(
        query.where(TRIAGE_CHANGE.c.fingerprint == fingerprint)
        .order_by(TRIAGE_OPERATION.c.id.desc())
        .limit(OPERATIONS_MAX)
    )
    return [PastOperation(row.change, row.by, row.at, _judgement(row.before)) for row in rows]


def drop(session: Session, operation: int) -> None:
    """Delete an operation from the history."""
    session.execute(delete(TRIAGE_OPERATION).where(TRIAGE_OPERATION.c.id == operation))


def _text(judgement: Judgement | None) -> str | None:
    return None if judgement is None else judgement.model_dump_json()


def _judgement(text: str | None) -> Judgement | None:
    return None if text is None else Judgement.model_validate_json(text)
