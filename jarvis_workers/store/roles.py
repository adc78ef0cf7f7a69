"""Two roles for a PostgreSQL store: one owns the tables and runs migrations, the other only reads and writes rows.

The statements are idempotent and may be run before the first migration and after any migration.
"""

import re

from sqlmodel import SQLModel

from jarvis_workers.errors import UsageError
from jarvis_workers.store.revisions import VERSION_TABLE
from jarvis_workers.store.schema import load_tables

load_tables()
TABLES = tuple(sorted(SQLModel.metadata.tables))
ROLE = re.compile(r"[a-z_][a-z0-9_]{0,62}")
WRITTEN = "INSERT, UPDATE, DELETE"
ROWS = f"SELECT, {WRITTEN}"
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
# Alembic's own table is created before its first migration: the default privileges would let the worker write it.
VERSIONS = """\
CREATE TABLE IF NOT EXISTS public.{versions} (
    version_num VARCHAR(32) NOT NULL, CONSTRAINT {versions}_pkc PRIMARY KEY (version_num)
);
"""
READ_VERSIONS = "REVOKE {written} ON public.{versions} FROM {worker};\n"
# By default every role can create large objects, which fill the disk and belong to no table.
NO_LARGE_OBJECTS = """\
DO $$ DECLARE made regprocedure; BEGIN
    FOR made IN SELECT oid FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace
        AND proname IN ('lo_creat', 'lo_create', 'lo_from_bytea', 'lo_import', 'lo_put', 'lowrite')
    LOOP EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC, {worker}', made); END LOOP;
END $$;
"""
# Hide the notices about objects that already exist.
QUIETLY = "SET LOCAL client_min_messages = warning;\n"
OWN = "ALTER TABLE IF EXISTS public.{table} OWNER TO {owner};\n"


def role_statements(owner: str, worker: str) -> str:
    """Return the SQL for a superuser of the store's database. Passwords are set elsewhere. Raises UsageError."""
    for role in (owner, worker):
        if not ROLE.fullmatch(role):
            raise UsageError(
                f'"{role}" is not a valid role name: use lower-case letters, digits and _, such as jarvis_worker'
            )
    if owner == worker:
        raise UsageError(f'owner and worker are both "{owner}"; the worker should not own the tables')
    names = {
        "owner": f'"{owner}"',
        "worker": f'"{worker}"',
        "versions": VERSION_TABLE,
        "rows": ROWS,
        "written": WRITTEN,
    }
    made = "".join(MAKE.format(role=role) for role in (owner, worker))
    owned = "".join(OWN.format(table=f'"{table}"', **names) for table in (*TABLES, VERSION_TABLE))
    granted = "".join(part.format(**names) for part in (GRANT, READ_VERSIONS, NO_LARGE_OBJECTS))
    return f"BEGIN;\n{QUIETLY}{made}{VERSIONS.format(**names)}{owned}{granted}COMMIT;\n"
