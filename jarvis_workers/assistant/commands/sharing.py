"""Execute `jarvis config share-methodology` and `share-tool`."""

import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import typer

from jarvis_cli.kit import exits
from jarvis_workers.assistant.chat.sharing import methodologies_to_share, share, tools_to_share
from jarvis_workers.paths import plain
from jarvis_workers.runs.central_repository import central_address
from jarvis_workers.settings import Settings, load_settings


def share_methodologies(names: Sequence[str], *, dry_run: bool) -> int:
    """Share methodologies of the data directory."""
    settings = _settings()
    return _share(settings, methodologies_to_share(settings.data_dir, names), "methodologies", dry_run=dry_run)


def share_tools(names: Sequence[str], *, dry_run: bool) -> int:
    """Share tools of the user."""
    return _share(_settings(), tools_to_share(names), "tools", dry_run=dry_run)


def _settings() -> Settings:
    return load_settings(directory=Path.cwd())


def _share(settings: Settings, files: Mapping[str, bytes], kind: str, *, dry_run: bool) -> int:
    address = central_address(settings)
    names = ", ".join(file.rpartition("/")[2] for file in files)
    shared = share(address, files, f"Share {kind}: {names}", now=int(time.time()), dry_run=dry_run)
    for file in shared.files:
        typer.echo(plain(file))
    if not shared.files:
        says = "has all of them already; nothing was pushed"
    elif dry_run:
        says = "would get these files; nothing was pushed"
    else:
        says = f"got these files (commit {shared.commit[:12]})"
    typer.echo(f"{plain(address)} {says}", err=True)
    return exits.DONE
