"""`jarvis admin`: look after the results store."""

from pathlib import Path

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
