"""The options of `jarvis c2rust optimize`."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer

from jarvis_cli.kit.option_records import CommandOptions
from jarvis_cli.kit.options import Budget, Detach, Label, Quiet, Where
from jarvis_workers.c2rust.stages.optimize_options import FILES, OptimizeRequest

EXAMPLES = """
jarvis c2rust optimize --crate-dir zlib_rs
jarvis c2rust optimize --dry-run            what would change
jarvis c2rust optimize --no-doc --include 'src/gz*.rs' -n 5
jarvis c2rust optimize -m 20 --exclude tests
jarvis c2rust optimize -g local --budget 1usd    a model proposes edits too
"""
PASSES = "Passes"


@dataclass(frozen=True, kw_only=True)
class CrateOptimization(CommandOptions):
    """What `jarvis c2rust optimize` changes, and how the files are delivered."""

    order = (
        "crate_dir unsafe structure visibility doc max_checks dry_run include exclude max_files resume reset_progress "
        "model_group fix_retries"
    )

    crate_dir: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="The crate; default: this directory, DIRECTORY_rs beside it, or the first crate below it.",
        ),
    ] = None
    unsafe: Annotated[
        bool, typer.Option("--unsafe/--no-unsafe", help="Leave unsafe blocks as they are.", rich_help_panel=PASSES)
    ] = True
    structure: Annotated[
        bool,
        typer.Option("--structure/--no-structure", help="Do not mark duplicate functions.", rich_help_panel=PASSES),
    ] = True
    visibility: Annotated[
        bool,
        typer.Option("--visibility/--no-visibility", help="Leave functions public.", rich_help_panel=PASSES),
    ] = True
    doc: Annotated[
        bool, typer.Option("--doc/--no-doc", help="Add no placeholders for documentation.", rich_help_panel=PASSES)
    ] = True
    request: OptimizeRequest = field(default_factory=OptimizeRequest)
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Count the changes, and write nothing.")] = False
    reset_progress: Annotated[
        bool, typer.Option("--reset-progress", help="Forget which files are optimized.", rich_help_panel=FILES)
    ] = False
    budget: Budget = None
    git_guard: Annotated[
        bool,
        typer.Option(
            "--git-guard/--no-git-guard",
            help="Commit nothing; default: a new branch with a commit per pass, if the crate is in a git repository.",
        ),
    ] = True
    label: Label = None
    where: Where = None
    detach: Detach = False
    quiet: Quiet = False

    @property
    def passes(self) -> tuple[str, ...]:
        """The names of the passes to run, in their order."""
        switches = {
            "unsafe": self.unsafe,
            "structure": self.structure,
            "visibility": self.visibility,
            "doc": self.doc,
        }
        return tuple(name for name, is_on in switches.items() if is_on)
