"""`jarvis admin`: manage the results database."""

from pathlib import Path
from typing import Annotated

import typer

from jarvis_cli.kit import exits
from jarvis_cli.kit.app import App

app = App(no_args_is_help=True)

STATUS_EXAMPLES = """
jarvis admin status                             exit code 0: current; 2: run migrate, or upgrade this program
until jarvis admin status; do sleep 5; done     wait for a migration
"""
SCHEMA_ACTIONS = {
    "current": "nothing to do",
    "outdated": "would apply {pending}",
    "missing": "would create the tables",
    "newer": "would refuse: the store belongs to a newer version; upgrade jarvis-workers",
}
ROLES_EXAMPLES = """
jarvis admin roles | psql -d jarvis
jarvis admin roles --owner ops --worker scanner | psql -d jarvis
"""


@app.command(examples="JARVIS_STORE_URL=postgresql://jarvis_owner@db/jarvis jarvis admin migrate")
def migrate() -> int:
    """Upgrade the database schema; SQLite is upgraded automatically, PostgreSQL only by this command."""
    from jarvis_workers.runs.wiring import migrate_store  # noqa: PLC0415  (the store is slow to import)
    from jarvis_workers.settings import load_settings  # noqa: PLC0415

    typer.echo(migrate_store(load_settings(directory=Path.cwd())))
    return 0


@app.command(examples=STATUS_EXAMPLES)
def status() -> int:
    """Compare the database schema with the one that this version needs, and show what migrate would do. Read-only."""
    from jarvis_workers import __version__  # noqa: PLC0415
    from jarvis_workers.runs.wiring import schema_status_of  # noqa: PLC0415  (the store is slow to import)
    from jarvis_workers.settings import load_settings  # noqa: PLC0415

    schema = schema_status_of(load_settings(directory=Path.cwd()))
    typer.echo(f"store    {schema.where}")
    typer.echo(f"schema   {schema.stored or 'none'}")
    typer.echo(f"program  {schema.program} (jarvis {__version__})")
    typer.echo(f"migrate  {SCHEMA_ACTIONS[schema.state].format(pending=', '.join(schema.pending))}")
    return exits.DONE if schema.state == "current" else exits.FAILED


@app.command(uses="none", examples=ROLES_EXAMPLES)
def roles(
    owner: Annotated[str, typer.Option(metavar="ROLE", help="Owner of the tables, for migrations.")] = "jarvis_owner",
    worker: Annotated[str, typer.Option(metavar="ROLE", help="Role that workers and commands use.")] = "jarvis_worker",
) -> int:
    """Print SQL for two PostgreSQL roles: one that owns the tables, and one for workers and commands.

    Run it as a superuser, before the first migration or after a later one.
    """
    from jarvis_workers.store.roles import role_statements  # noqa: PLC0415  (the store is slow to import)

    typer.echo(role_statements(owner, worker), nl=False)
    return 0
