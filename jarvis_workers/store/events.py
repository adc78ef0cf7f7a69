"""Events: the history of runs and stages."""

import json
from typing import Any

from sqlalchemy import insert, select

from jarvis_workers.store.session import Session
from jarvis_workers.store.sql import now
from jarvis_workers.store.tables import EVENT

# Of files of users that a process could not use: `lines` about them.
LEFT_OUT = "left out"


def record(session: Session, run_id: str, name: str, stage: str | None = None, **facts: Any) -> None:
    """Record an event at the current time."""
    row = {
        "run_id": run_id,
        "stage": stage,
        "name": name,
        "facts": json.dumps(facts, sort_keys=True),
        "at": now(session),
    }
    session.execute(insert(EVENT).values(row))


def read(session: Session, run_id: str) -> list[dict[str, Any]]:
    """Return the events of a run in order."""
    query = select(EVENT.c.stage, EVENT.c.name, EVENT.c.facts, EVENT.c.at).where(EVENT.c.run_id == run_id)
    rows = session.execute(query.order_by(EVENT.c.id)).mappings()
    return [{"at": row["at"], "stage": row["stage"], "name": row["name"], **json.loads(row["facts"])} for row in rows]
