"""Execute `jarvis c2rust check`."""

from pathlib import Path

import typer

from jarvis_cli.kit import exits
from jarvis_cli.kit.progress import display
from jarvis_cli.kit.project_run import project_settings
from jarvis_cli.kit.status_output import write_line
from jarvis_workers.c2rust.runs.edited_crate import check_crate, find_crate
from jarvis_workers.paths import plain
from jarvis_workers.runs import wiring


def check_edited_crate(path: Path | None, crate_dir: Path | None, where: str | None, *, quiet: bool) -> int:
    """Check the functions of a crate that were edited, and print the result; return the exit code."""
    settings = project_settings({"where": where}, detach=False)
    place = find_crate(crate_dir, path or Path())
    with wiring.store_of(settings, tell=write_line, create=False) as store:
        with display(quiet) as screen:
            checked = check_crate(settings, store, place, path, screen.tell)
        if not quiet:
            for line in checked.lines():
                typer.echo(plain(line))
    return exits.of_run(findings=checked.refused, incomplete=not checked.complete)
