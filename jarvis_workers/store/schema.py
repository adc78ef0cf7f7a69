"""Check the version of the store's schema, and migrate it.

Importing Alembic takes a third of a second, so the stored revision is compared first.
"""

from importlib import import_module

from sqlalchemy import Connection, Engine, inspect, text

from jarvis_workers.errors import StoreError, StoreOutdated
from jarvis_workers.redact import redact
from jarvis_workers.store.revisions import REVISIONS, VERSION_TABLE

# For transactions that pause between statements; PostgreSQL ends other idle ones.
KEEP_IDLE = "SET LOCAL idle_in_transaction_session_timeout = 0"
# The modules with tables: that of every kind of run, and those of domains.
TABLE_MODULES = (
    "jarvis_workers.store.tables",
    "jarvis_workers.sec.store.tables",
    "jarvis_workers.store.symbol_tables",
    "jarvis_workers.assistant.store.memories",
)
ONE_AT_A_TIME = 0x6A617276  # an arbitrary constant, the same for all migrating processes


def load_tables() -> None:
    """Import every module with tables, so that the metadata of SQLModel has all of them."""
    for module in TABLE_MODULES:
        import_module(module)


def check_schema(engine: Engine, *, migrate: bool) -> None:
    """Raise StoreError unless the schema is the newest; with `migrate`, migrate it first."""
    with engine.execution_options(jarvis_mode="read").connect() as connection:
        stored = stored_revision(connection)
    if stored == REVISIONS[-1]:
        return
    where = redact(engine.url.render_as_string(hide_password=True))
    if stored is not None and stored not in REVISIONS:
        raise StoreError(
            f'{where}: the store has the newer schema "{stored}"; upgrade jarvis-workers, or use another store'
        )
    if not migrate:
        raise StoreOutdated(f"{where}: the store's schema is {stored or 'missing'}; run: jarvis admin migrate")
    from alembic import command, config  # noqa: F401, PLC0415  (slow: imported before taking the lock)

    with engine.execution_options(jarvis_mode="migrate").begin() as connection:
        # Another process may have migrated the store in the meantime.
        if stored_revision(connection) != REVISIONS[-1]:
            upgrade(connection)


def stored_revision(connection: Connection) -> str | None:
    """Return the revision recorded in the store."""
    if not inspect(connection).has_table(VERSION_TABLE):
        return None
    row = connection.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).first()
    return str(row[0]) if row else None


def upgrade(connection: Connection) -> None:
    """Migrate the schema to the newest revision, inside the caller's transaction."""
    from alembic import command  # noqa: PLC0415  (slow, and rarely needed)
    from alembic.config import Config  # noqa: PLC0415

    if connection.dialect.name == "postgresql":
        connection.execute(text(KEEP_IDLE))
        connection.execute(text(f"SELECT pg_advisory_xact_lock({ONE_AT_A_TIME})"))
    config = Config()
    config.set_main_option("script_location", "jarvis_workers.store:migrations")
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
