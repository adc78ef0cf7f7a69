"""Labels of runs: insert and read labels, and find runs by label."""

from collections.abc import Iterable, Mapping

from sqlalchemy import delete, insert, select

from jarvis_workers.store.runs import from_row
from jarvis_workers.store.session import Session
from jarvis_workers.store.tables import RUN, RUN_LABEL
from jarvis_workers.store.values import Run

MOST_PARAMETERS = 500


def add(session: Session, run_id: str, labels: Mapping[str, str]) -> None:
    """Insert the labels of a new run."""
    rows = [{"run_id": run_id, "key": key, "value": value} for key, value in labels.items()]
    if rows:
        session.execute(insert(RUN_LABEL), rows)


def put(session: Session, run_id: str, key: str, value: str) -> None:
    """Set a label of a run."""
    session.execute(delete(RUN_LABEL).where(RUN_LABEL.c.run_id == run_id, RUN_LABEL.c.key == key))
    add(session, run_id, {key: value})


def labels_of(session: Session, run_ids: Iterable[str]) -> dict[str, dict[str, str]]:
    """Return the labels of each of the runs, sorted by key."""
    ids = list(run_ids)
    labels: dict[str, dict[str, str]] = {run_id: {} for run_id in ids}
    for start in range(0, len(ids), MOST_PARAMETERS):
        some = RUN_LABEL.c.run_id.in_(ids[start : start + MOST_PARAMETERS])
        for row in session.execute(select(RUN_LABEL).where(some).order_by(RUN_LABEL.c.key)):
            labels[row.run_id][row.key] = row.value
    return labels


def labelled(session: Session, labels: Mapping[str, str | None], limit: int) -> list[Run]:
    """Return the newest runs that have all these labels, newest first; None matches any value."""
    query = select(RUN).order_by(RUN.c.created_at.desc(), RUN.c.id).limit(limit)
    for key, value in labels.items():
        one = select(RUN_LABEL.c.run_id).where(RUN_LABEL.c.run_id == RUN.c.id, RUN_LABEL.c.key == key)
        query = query.where((one if value is None else one.where(RUN_LABEL.c.value == value)).exists())
    return [from_row(row) for row in session.execute(query)]
