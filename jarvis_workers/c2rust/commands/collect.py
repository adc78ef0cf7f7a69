"""`jarvis c2rust collect`: the functions that headers declare, as roots of a translation."""

from pathlib import Path
from typing import Annotated

import typer

from jarvis_cli.kit import exits
from jarvis_workers.paths import plain
from jarvis_workers.words import ENGLISH

EXAMPLES = """
jarvis c2rust collect include/zlib.h
jarvis c2rust collect include/*.h -o roots.txt
jarvis c2rust collect api.h --cc-root build       compile_commands.json is there
"""
HERE = Path()


def collect(
    files: Annotated[list[Path], typer.Argument(metavar="FILE", help="Headers: .h, .hh, .hpp or .hxx.")],
    root: Annotated[
        Path, typer.Option("--path", "-p", metavar="DIR", help="Root of the project.", show_default=False)
    ] = HERE,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help="Default: .jarvis/c2rust/roots.txt below the root."),
    ] = None,
    cc_root: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Directory of compile_commands.json, if not the root.")
    ] = None,
) -> int:
    """Write the names of the functions that headers declare, one per line.

    Headers are parsed with the compiler arguments of the sources next to them. Files that are not headers are skipped;
    headers that cannot be parsed are skipped with a warning.
    """
    from jarvis_workers.c2rust.runs.collect import collect_names, compile_options, write_names  # noqa: PLC0415
    from jarvis_workers.settings import load_settings  # noqa: PLC0415

    settings = load_settings(directory=Path.cwd())
    collected = collect_names(files, root, compile_options(settings, cc_root), settings.c2rust.clang_headers)
    for warning in collected.warnings:
        _say(warning)
    path = write_names(collected, root, out, _say)
    typer.echo(f"{ENGLISH.count(len(collected.names), 'function')}: {plain(str(path))}", err=True)
    return exits.DONE


def _say(line: str) -> None:
    typer.echo(plain(line), err=True)
