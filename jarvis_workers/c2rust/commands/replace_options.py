"""The options of `jarvis c2rust lib-replace`."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer

from jarvis_cli.kit.option_records import CommandOptions
from jarvis_cli.kit.options import AGENTS, Budget, Detach, DryRun, EstimateJson, Label, Quiet, Where
from jarvis_workers.c2rust.stages.replace_options import FUNCTIONS, LIBRARIES, ReplaceOptions

EXAMPLES = """
jarvis c2rust lib-replace -p zopfli         after: jarvis c2rust scan -p zopfli
jarvis c2rust lib-replace --root-list-file .jarvis/c2rust/roots.txt
jarvis c2rust lib-replace --root-list-syms inflate,deflate --library flate2
jarvis c2rust lib-replace --disabled-libs openssl --max-funcs 10
jarvis c2rust lib-replace --library crc32fast --fetch-crates
jarvis c2rust lib-replace -g local --budget 1usd
jarvis c2rust lib-replace --dry-run         estimate tokens and cost
"""
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
class LibraryReplace(CommandOptions):
    """What `jarvis c2rust lib-replace` judges, and how the result is delivered."""

    order = "path root_list_file roots max_functions library disabled fetch_crates model_group"
    path: Annotated[
        Path, typer.Option("--path", "-p", metavar="DIR", help="Root of the project.", show_default=False)
    ] = HERE
    root_list_file: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Only the functions named in FILE, one per line.", rich_help_panel=FUNCTIONS),
    ] = None
    options: ReplaceOptions = field(default_factory=ReplaceOptions)
    fetch_crates: FetchCrates = False
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
