"""Two users of a PostgreSQL store: one owns the tables and migrates, the other reads and writes rows and no more.

The statements may be run before the first migration and after any, and again whenever in doubt.
"""

import re

from jarvis_workers.errors import UsageError
from jarvis_workers.store.schema import VERSION_TABLE
from jarvis_workers.store.tables import TABLES

ROLE = re.compile(r"[a-z_][a-z0-9_]{0,62}")
ROWS = "SELECT, INSERT, UPDATE, DELETE"
MAKE = """\
DO $$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '{role}') THEN CREATE ROLE "{role}" LOGIN; END IF;
END $$;
"""
GRANT = """\
DO $$ BEGIN
    EXECUTE format('REVOKE ALL ON DATABASE %I FROM PUBLIC, {worker}', current_database());
    EXECUTE format('GRANT CONNECT ON DATABASE %I TO {owner}, {worker}', current_database());
END $$;
REVOKE ALL ON SCHEMA public FROM PUBLIC, {worker};
GRANT USAGE, CREATE ON SCHEMA public TO {owner};
GRANT USAGE ON SCHEMA public TO {worker};
REVOKE ALL ON ALL TABLES IN SCHEMA public FROM PUBLIC, {worker};
GRANT {rows} ON ALL TABLES IN SCHEMA public TO {worker};
GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA public TO {worker};
ALTER DEFAULT PRIVILEGES FOR ROLE {owner} IN SCHEMA public GRANT {rows} ON TABLES TO {worker};
ALTER DEFAULT PRIVILEGES FOR ROLE {owner} IN SCHEMA public GRANT USAGE, SELECT ON SEQUENCES TO {worker};
"""
# What is there already is no news.
QUIETLY = "SET LOCAL client_min_messages = warning;\n"
OWN = "ALTER TABLE IF EXISTS public.{table} OWNER TO {owner};\n"


def role_statements(owner: str, worker: str) -> str:
    """Return the SQL, for a superuser of the store's database. Passwords are set elsewhere. Raises UsageError."""
    for role in (owner, worker):
        if not ROLE.fullmatch(role):
            raise UsageError(f'"{role}" is no name for a role: small letters, digits and _, such as jarvis_worker')
    if owner == worker:
        raise UsageError(f'owner and worker are both "{owner}"; the worker should not own the tables')
    names = {"owner": f'"{owner}"', "worker": f'"{worker}"'}
    made = "".join(MAKE.format(role=role) for role in (owner, worker))
    owned = "".join(OWN.format(table=f'"{table}"', **names) for table in (*TABLES, VERSION_TABLE))
    return f"BEGIN;\n{QUIETLY}{made}{owned}{GRANT.format(rows=ROWS, **names)}COMMIT;\n"
