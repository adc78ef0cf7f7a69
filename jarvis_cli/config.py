"""`jarvis config`: the settings as they are in force here, and where each comes from."""

import json
from pathlib import Path
from typing import Annotated

import typer

from jarvis_workers.settings import Origin, origins

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Show the settings, and where each comes from.")

EXAMPLES = """\
\b
A flag wins over a JARVIS_* variable, that over jarvis.yaml, that over
[tool.jarvis] in pyproject.toml (both in this directory), that over the default.

\b
Examples:
  jarvis config show
  JARVIS_SCAN__LANGUAGES=rust jarvis config show
  jarvis config show --json | jq '.[] | select(.from != "default")'
"""


@app.callback()
def config() -> None:
    """Show the settings, and where each comes from."""


@app.command(epilog=EXAMPLES)
def show(as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False) -> None:
    """Show every setting, its value without secrets, and where it comes from."""
    found = origins(directory=Path.cwd())
    if as_json:
        rows = [{"setting": origin.setting, "value": origin.value, "from": origin.source} for origin in found]
        typer.echo(json.dumps(rows, indent=2, ensure_ascii=False))
    else:
        typer.echo(_table(found))


def _table(found: list[Origin]) -> str:
    rows = [("SETTING", "VALUE", "FROM"), *((origin.setting, _said(origin.value), origin.source) for origin in found)]
    widths = [min(60, max(len(row[column]) for row in rows)) for column in (0, 1)]
    return "\n".join(f"{name:<{widths[0]}}  {value:<{widths[1]}}  {source}" for name, value, source in rows)


def _said(value: object) -> str:
    if isinstance(value, list):
        return ",".join(map(str, value))
    if isinstance(value, dict):
        return ",".join(f"{name}={said}" for name, said in value.items())
    if isinstance(value, float):
        return f"{value:g}"
    return (
        {None: "-", True: "yes", False: "no"}.get(value, str(value)) if isinstance(value, bool | None) else str(value)
    )
