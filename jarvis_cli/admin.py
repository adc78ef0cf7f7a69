"""`jarvis admin`: look after the results store."""

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Look after the results store.")


@app.callback()
def admin() -> None:
    """Look after the results store."""


@app.command()
def migrate() -> int:
    """Bring the store's schema up to date. SQLite does this by itself; PostgreSQL waits for this command."""
    from jarvis_workers.service.desk import migrate_store  # noqa: PLC0415  (the store is slow to import)
    from jarvis_workers.settings import load_settings  # noqa: PLC0415

    typer.echo(migrate_store(load_settings(directory=Path.cwd())))
    return 0


@app.command()
def roles(
    owner: Annotated[str, typer.Option(metavar="ROLE", help="Who owns the tables, and migrates.")] = "jarvis_owner",
    worker: Annotated[
        str, typer.Option(metavar="ROLE", help="Who reads and writes rows: workers and commands.")
    ] = "jarvis_worker",
) -> int:
    """Print the SQL for two users of a PostgreSQL store: who migrates, and who works.

    For a superuser, before the first migration or after any: jarvis admin roles | psql -d jarvis
    """
    from jarvis_workers.store.roles import role_statements  # noqa: PLC0415

    typer.echo(role_statements(owner, worker), nl=False)
    return 0
