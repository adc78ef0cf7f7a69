"""The options of `jarvis c2rust run`."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer

from jarvis_cli.kit.option_records import Without
from jarvis_cli.kit.options import AGENTS
from jarvis_workers.c2rust.commands.fast_options import ModelConversion
from jarvis_workers.c2rust.stages.options import CONVERSION, MoveOptions
from jarvis_workers.c2rust.stages.replace_options import FUNCTIONS, LIBRARIES

EXAMPLES = """
jarvis c2rust run -p zlib --files zlib/zlib.h --configure ./configure --build make --test 'make test'
jarvis c2rust run --root-list-syms inflate,deflate --build make --test 'make test' --disabled-libs openssl
jarvis c2rust run --no-replace --build make --test 'make check' -g local --budget 5usd
jarvis c2rust run --no-replace --build make --test 'make check' --dry-run    estimate tokens and cost
jarvis c2rust run --no-replace --no-resume --build make --test 'make check'
"""


@dataclass(frozen=True, kw_only=True)
class ProjectMove(ModelConversion):
    """The options of `jarvis c2rust run`."""

    order = f"{ModelConversion.order} drivers"
    options: Annotated[MoveOptions, Without("allow_errors roots library max_functions max_checks fix_retries")] = field(
        default_factory=MoveOptions
    )
    files: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="HEADER",
            help="Headers whose functions to move, with what these need; repeatable.",
            rich_help_panel=FUNCTIONS,
        ),
    ] = None
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="File for the names in the headers; default: .jarvis/c2rust/roots.txt.",
            rich_help_panel=FUNCTIONS,
        ),
    ] = None
    root_list_syms: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAMES",
            help="Functions to move, with what these need; repeatable, or with commas.",
            rich_help_panel=FUNCTIONS,
        ),
    ] = None
    replace: Annotated[
        bool,
        typer.Option(
            "--replace/--no-replace", help="Do not replace functions by libraries.", rich_help_panel=LIBRARIES
        ),
    ] = True
    crate_dir: Annotated[
        Path | None,
        typer.Option(
            "--crate-dir",
            metavar="DIR",
            help="Directory of the crate; default: beside the project, PATH_rs.",
            rich_help_panel=CONVERSION,
        ),
    ] = None
    optimize: Annotated[
        bool,
        typer.Option("--optimize/--no-optimize", help="Do not optimize the crate.", rich_help_panel=CONVERSION),
    ] = True
    improve: Annotated[
        bool,
        typer.Option(
            "--improve/--no-improve",
            help="Let the model edit the optimized crate; only the crate's own tests check this.",
            rich_help_panel=CONVERSION,
        ),
    ] = False
    resume: Annotated[
        bool,
        typer.Option(
            "--resume/--no-resume",
            help="Begin a new run even if one with these options is unfinished.",
            rich_help_panel=AGENTS,
        ),
    ] = True
