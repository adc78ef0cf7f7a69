"""SQL helpers for all query modules, including those that differ between databases."""

from collections.abc import Collection, Iterator, Sequence
from typing import Any, TypeVar, cast

from sqlalchemy import ColumnElement, CursorResult, Executable, Float, Table, and_, literal, not_, select
from sqlalchemy.dialects import postgresql, sqlite

from jarvis_workers.store.session import Session

PIECE = 500
T = TypeVar("T", int, str)


def now(session: Session) -> ColumnElement[float]:
    """Return the database's time as SQL; all lease arithmetic uses it, and tests replace it through the store."""
    return cast(ColumnElement[float], session.info["clock"]())


def present(session: Session) -> float:
    """Return the database's time."""
    return float(session.execute(select(now(session))).scalar_one())


def stop_clock(session: Session) -> float:
    """Let the time stand still until the session ends, so that its decisions agree with each other; return it.

    A step of the clock between two statements then expires nothing.
    """
    moment = present(session)
    session.info["moving"] = session.info["clock"]
    session.info["clock"] = lambda: literal(moment, Float(53))
    return moment


def is_future(
    session: Session, time: ColumnElement[Any], after: ColumnElement[Any] | float = 0.0
) -> ColumnElement[Any]:
    """Return whether a time is later than `after` seconds from now, which no time is unless the clock was set back.

    With a stopped clock it must be so by the moving one too: others write times of after the stop.
    """
    clocks = [session.info["clock"], session.info.get("moving", session.info["clock"])]
    return and_(*(time > clock() + after for clock in clocks))


def is_recent(session: Session, time: ColumnElement[Any], seconds: float) -> ColumnElement[bool]:
    """Return whether a time is less than `seconds` ago; one in the future is not: the clock was set back since."""
    return and_(time > now(session) - seconds, not_(is_future(session, time)))


def is_void(session: Session, until: ColumnElement[Any], seconds: ColumnElement[Any]) -> ColumnElement[bool]:
    """Return whether a lease ends later than its length from now: it was taken before the clock was set back.

    It never does for leases of earlier versions, which have no length.
    """
    return and_(seconds.is_not(None), is_future(session, until, seconds))


def insert_missing(
    session: Session, into: Table, rows: Sequence[dict[str, Any]], **computed: ColumnElement[Any]
) -> None:
    """Insert the rows whose key does not exist; `computed` columns are SQL expressions, the same for each row."""
    if rows:
        session.execute(_insert(session, into).values(computed).on_conflict_do_nothing(), list(rows))


def insert_or_lock(session: Session, into: Table, row: dict[str, Any], **computed: ColumnElement[Any]) -> None:
    """Insert a row; if its key exists, update and lock it, so that it is not deleted before the transaction ends."""
    new = _insert(session, into).values({**row, **computed})
    session.execute(new.on_conflict_do_update(index_elements=list(into.primary_key), set_=row))


def insert_or_replace(
    session: Session, into: Table, rows: Sequence[dict[str, Any]], **computed: ColumnElement[Any]
) -> None:
    """Insert rows, replacing those with the same key; `computed` is the same as in `insert_missing`."""
    if rows:
        new = _insert(session, into).values(computed)
        fresh = {column.name: new.excluded[column.name] for column in into.columns if not column.primary_key}
        session.execute(new.on_conflict_do_update(index_elements=list(into.primary_key), set_=fresh), list(rows))


def changed(session: Session, statement: Executable) -> int:
    """Execute an UPDATE or DELETE; return the number of rows changed."""
    return cast(CursorResult[Any], session.execute(statement)).rowcount


def chunked(values: Collection[T]) -> Iterator[list[T]]:
    """Yield values in chunks, since the number of parameters of a statement is limited."""
    ordered = sorted(set(values))
    return (ordered[start : start + PIECE] for start in range(0, len(ordered), PIECE))


def storable(text: str) -> str:
    """Escape characters that databases cannot store: NUL and lone surrogates."""
    return text.encode("utf-8", "backslashreplace").decode().replace("\0", "\\x00")


def _insert(session: Session, into: Table) -> Any:
    insert = postgresql.insert if session.get_bind().dialect.name == "postgresql" else sqlite.insert
    return insert(into)
