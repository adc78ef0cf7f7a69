"""The options of `jarvis c2rust optimize`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from jarvis_cli.options import AGENTS, Budget, Detach, Group, Label, Quiet, Where

EXAMPLES = """
jarvis c2rust optimize --crate-dir zlib_rs
jarvis c2rust optimize --dry-run            what would change
jarvis c2rust optimize --no-doc --include 'src/gz*.rs' -n 5
jarvis c2rust optimize -m 20 --exclude tests
jarvis c2rust optimize -g local --budget 1usd    a model proposes edits too
"""
PASSES, FILES = "Passes", "Files"


@dataclass(frozen=True, kw_only=True)
class CrateOptimization:
    """The options of `jarvis c2rust optimize`."""

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
    max_checks: Annotated[
        int,
        typer.Option("--max-checks", "-m", min=0, metavar="NUMBER", help="Most runs of cargo test; 0: any number."),
    ] = 0
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Count the changes, and write nothing.")] = False
    include: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATTERN", help="Only these files of the crate, with wildcards; repeatable.", rich_help_panel=FILES
        ),
    ] = None
    exclude: Annotated[
        list[str] | None,
        typer.Option(metavar="PATTERN", help="Files to leave as they are; repeatable.", rich_help_panel=FILES),
    ] = None
    max_files: Annotated[
        int | None,
        typer.Option("--max-files", "-n", min=1, metavar="NUMBER", help="At most NUMBER files.", rich_help_panel=FILES),
    ] = None
    resume: Annotated[
        bool,
        typer.Option(
            "--resume/--no-resume", help="Also files that are optimized and have not changed.", rich_help_panel=FILES
        ),
    ] = True
    reset_progress: Annotated[
        bool, typer.Option("--reset-progress", help="Forget which files are optimized.", rich_help_panel=FILES)
    ] = False
    group: Group = None
    build_fix_retries: Annotated[
        int,
        typer.Option(
            "--build-fix-retries",
            "-r",
            min=0,
            metavar="NUMBER",
            help="Further answers of a model for a file whose edits fail.",
            rich_help_panel=AGENTS,
        ),
    ] = 2
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
