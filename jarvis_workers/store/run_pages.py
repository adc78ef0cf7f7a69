"""Pages of the filtered list of runs, newest first."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, func, select

from jarvis_workers.store.runs import from_row
from jarvis_workers.store.session import Session
from jarvis_workers.store.tables import RUN, RUN_LABEL
from jarvis_workers.store.values import BASELINE_OF, ENDED_RUNS, Run


class RunFilter(NamedTuple):
    """The filter of a list of runs; an empty value means no restriction.

    `root` is the whole display name; `labels` are keys with a value, or with None for any value. `kinds` are several
    kinds, None for all. Scans of a baseline, which have the label BASELINE_OF, are left out unless `with_inner` is set.
    """

    state: str = ""
    kind: str = ""
    root: str = ""
    labels: tuple[tuple[str, str | None], ...] = ()
    kinds: tuple[str, ...] | None = None
    ended: bool = False
    with_inner: bool = True


EVERY_RUN = RunFilter()


def page(
    session: Session, run_filter: RunFilter, *, limit: int, offset: int = 0, before: float | None = None
) -> list[Run]:
    """Return runs, newest first, submitted before a given time if there is one."""
    rows = select(RUN).where(*_conditions(run_filter)).order_by(RUN.c.created_at.desc(), RUN.c.id)
    if before is not None:
        rows = rows.where(RUN.c.created_at < before)
    return [from_row(row) for row in session.execute(rows.limit(limit).offset(offset))]


def count(session: Session, run_filter: RunFilter) -> int:
    """Return the number of runs."""
    return int(session.execute(select(func.count()).select_from(RUN).where(*_conditions(run_filter))).scalar_one())


def roots(session: Session, limit: int, run_filter: RunFilter = EVERY_RUN) -> list[tuple[str, int]]:
    """Return the roots with the number of runs of each; the root with the newest run comes first."""
    counted = select(RUN.c.root, func.count()).where(*_conditions(run_filter))
    rows = counted.group_by(RUN.c.root).order_by(func.max(RUN.c.created_at).desc())
    return [(root, int(number)) for root, number in session.execute(rows.limit(limit))]


def _conditions(run_filter: RunFilter) -> Iterator[ColumnElement[bool]]:
    columns: dict[str, Any] = {"state": RUN.c.state, "kind": RUN.c.kind, "root": RUN.c.root}
    for name, column in columns.items():
        if value := getattr(run_filter, name):
            yield column == value
    if run_filter.kinds is not None:
        yield RUN.c.kind.in_(run_filter.kinds)
    if run_filter.ended:
        yield RUN.c.state.in_(ENDED_RUNS)
    if not run_filter.with_inner:
        inner = select(RUN_LABEL.c.run_id).where(RUN_LABEL.c.run_id == RUN.c.id, RUN_LABEL.c.key == BASELINE_OF)
        yield ~inner.exists()
    for key, value in run_filter.labels:
        one = select(RUN_LABEL.c.run_id).where(RUN_LABEL.c.run_id == RUN.c.id, RUN_LABEL.c.key == key)
        yield (one if value is None else one.where(RUN_LABEL.c.value == value)).exists()
