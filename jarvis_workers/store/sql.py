"""Small SQL that every query file needs, or that differs between databases."""

from collections.abc import Sequence
from typing import Any, cast

from sqlalchemy import ColumnElement, CursorResult, Executable, Table
from sqlalchemy.dialects import postgresql, sqlite
from sqlmodel import Session


def now(session: Session) -> ColumnElement[float]:
    """Return the database's time, as SQL: all lease arithmetic uses it, and tests replace it through the store."""
    return cast(ColumnElement[float], session.info["clock"]())


def insert_missing(
    session: Session, into: Table, rows: Sequence[dict[str, Any]], **computed: ColumnElement[Any]
) -> None:
    """Insert the rows whose key is not there yet; `computed` columns are SQL, the same for each."""
    insert = postgresql.insert if session.get_bind().dialect.name == "postgresql" else sqlite.insert
    if rows:
        session.execute(insert(into).values(computed).on_conflict_do_nothing(), list(rows))


def changed(session: Session, statement: Executable) -> int:
    """Run an UPDATE or DELETE; return how many rows it changed."""
    return cast(CursorResult[Any], session.execute(statement)).rowcount
