"""The options of `jarvis c2rust lib-replace`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from jarvis_cli.options import AGENTS, Budget, Detach, DryRun, EstimateJson, Group, Label, Quiet, Where

EXAMPLES = """
jarvis c2rust lib-replace -p zopfli         after: jarvis c2rust scan -p zopfli
jarvis c2rust lib-replace --root-list-file .jarvis/c2rust/roots.txt
jarvis c2rust lib-replace --root-list-syms inflate,deflate --library flate2
jarvis c2rust lib-replace --disabled-libs openssl --max-funcs 10
jarvis c2rust lib-replace --library crc32fast --fetch-crates
jarvis c2rust lib-replace -g local --budget 1usd
jarvis c2rust lib-replace --dry-run         estimate tokens and cost
"""
FUNCTIONS, LIBRARIES = "Functions", "Libraries"
HERE = Path()
FetchCrates = Annotated[
    bool,
    typer.Option(
        "--fetch-crates",
        help="Fetch the allowed crates from the registry; they are built in the sandbox only.",
        rich_help_panel=LIBRARIES,
    ),
]


@dataclass(frozen=True, kw_only=True)
class LibraryReplace:
    """The options of `jarvis c2rust lib-replace`."""

    path: Annotated[
        Path, typer.Option("--path", "-p", metavar="DIR", help="Root of the project.", show_default=False)
    ] = HERE
    root_list_file: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Only the functions named in FILE, one per line.", rich_help_panel=FUNCTIONS),
    ] = None
    root_list_syms: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAMES", help="Only these functions; repeatable, or with commas.", rich_help_panel=FUNCTIONS
        ),
    ] = None
    max_funcs: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="NUMBER", help="Judge at most NUMBER functions, one at a time.", rich_help_panel=FUNCTIONS
        ),
    ] = None
    library: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Crate to consider first; it is allowed.", rich_help_panel=LIBRARIES),
    ] = None
    disabled_libs: Annotated[
        list[str] | None,
        typer.Option(metavar="NAMES", help="Crates not to use; repeatable, or with commas.", rich_help_panel=LIBRARIES),
    ] = None
    fetch_crates: FetchCrates = False
    group: Group = None
    budget: Budget = None
    dry_run: DryRun = False
    as_json: EstimateJson = False
    resume: Annotated[
        bool,
        typer.Option(
            "--resume/--no-resume", help="Judge all functions again, without a checkpoint.", rich_help_panel=AGENTS
        ),
    ] = True
    label: Label = None
    where: Where = None
    detach: Detach = False
    quiet: Quiet = False
