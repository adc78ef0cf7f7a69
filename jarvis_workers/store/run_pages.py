"""Pages of the filtered list of runs, newest first."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, func, select
from sqlmodel import Session

from jarvis_workers.store.runs import from_row
from jarvis_workers.store.tables import RUN, RUN_LABEL
from jarvis_workers.store.values import Run


class RunFilter(NamedTuple):
    """The filter of a list of runs; an empty value means no restriction.

    `root` is the whole display name; `labels` are keys with a value, or with None for any value.
    """

    state: str = ""
    kind: str = ""
    root: str = ""
    labels: tuple[tuple[str, str | None], ...] = ()


def page(session: Session, run_filter: RunFilter, *, limit: int, offset: int = 0) -> list[Run]:
    """Return runs, newest first."""
    rows = select(RUN).where(*_conditions(run_filter)).order_by(RUN.c.created_at.desc(), RUN.c.id)
    return [from_row(row) for row in session.execute(rows.limit(limit).offset(offset))]


def count(session: Session, run_filter: RunFilter) -> int:
    """Return the number of runs."""
    return int(session.execute(select(func.count()).select_from(RUN).where(*_conditions(run_filter))).scalar_one())


def newest_ended(session: Session, root: str, kind: str, before: float) -> Run | None:
    """Return the newest complete run of a root and a kind that was submitted before a given time, or None."""
    done = select(RUN).where(RUN.c.root == root, RUN.c.kind == kind, RUN.c.state == "done", RUN.c.created_at < before)
    row = session.execute(done.order_by(RUN.c.created_at.desc()).limit(1)).first()
    return from_row(row) if row else None


def roots(session: Session, limit: int) -> list[tuple[str, int]]:
    """Return the roots with the number of runs of each; the root with the newest run comes first."""
    rows = select(RUN.c.root, func.count()).group_by(RUN.c.root).order_by(func.max(RUN.c.created_at).desc())
    return [(root, int(number)) for root, number in session.execute(rows.limit(limit))]


def _conditions(run_filter: RunFilter) -> Iterator[ColumnElement[bool]]:
    columns: dict[str, Any] = {"state": RUN.c.state, "kind": RUN.c.kind, "root": RUN.c.root}
    for name, column in columns.items():
        if value := getattr(run_filter, name):
            yield column == value
    for key, value in run_filter.labels:
        one = select(RUN_LABEL.c.run_id).where(RUN_LABEL.c.run_id == RUN.c.id, RUN_LABEL.c.key == key)
        yield (one if value is None else one.where(RUN_LABEL.c.value == value)).exists()
