"""The options in the address of a PostgreSQL store: those of libpq, and psycopg's `prepare_threshold`.

SQLAlchemy passes every option to the driver, whose other parameters (`autocommit`, `row_factory`) are not for users.
"""

from difflib import get_close_matches
from typing import Any

from psycopg.pq import Conninfo
from sqlalchemy.engine import URL

from jarvis_workers.errors import StoreError

SETTING = "JARVIS_STORE_URL"
PREPARE = "prepare_threshold"
NEVER = "none"
OPTIONS = {option.keyword.decode() for option in Conninfo.get_defaults()} | {PREPARE}
# SQLAlchemy accepts several of these, for several servers.
REPEATABLE = ("host", "port")


def driver_options(address: URL) -> tuple[URL, dict[str, Any]]:
    """Return the address without psycopg's own options, and these. Raises StoreError for an invalid option."""
    for name, value in address.query.items():
        if name not in OPTIONS:
            close = get_close_matches(name, OPTIONS, n=1)
            hint = f' (did you mean "{close[0]}"?)' if close else ""
            raise StoreError(f'{SETTING}: unknown option "{name}"{hint}')
        if not isinstance(value, str) and name not in REPEATABLE:
            raise StoreError(f'{SETTING}: the option "{name}" is given {len(value)} times')
    if PREPARE not in address.query:
        return address, {}
    return address.difference_update_query([PREPARE]), {PREPARE: _threshold(str(address.query[PREPARE]))}


def _threshold(value: str) -> int | None:
    """Parse after how many executions a statement is prepared on the server; None for never."""
    if value.lower() == NEVER:
        return None
    if value.isascii() and value.isdigit():
        return int(value)
    raise StoreError(f'{SETTING}: {PREPARE}="{value}" is neither a number of executions nor "{NEVER}"')
