"""The number of connections to a PostgreSQL server, across all its databases."""

from sqlalchemy import text

from jarvis_workers.store.session import Session

IN_USE = "SELECT count(*) FROM pg_stat_activity WHERE usesysid IS NOT NULL"
AT_MOST = "SELECT current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int"


def in_use(session: Session) -> tuple[int, int] | None:
    """Return the current and the maximum number of connections; None on SQLite, which has no limit."""
    if session.get_bind().dialect.name != "postgresql":
        return None
    used, most = (int(session.execute(text(query)).scalar_one()) for query in (IN_USE, AT_MOST))
    return used, most
