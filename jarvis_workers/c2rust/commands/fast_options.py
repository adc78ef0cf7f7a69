"""The options of `jarvis c2rust fast`, `skeleton`, `prepare` and `transpile`."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, ClassVar

import typer

from jarvis_cli.kit.option_records import CommandOptions, Without
from jarvis_cli.kit.options import AGENTS, EXECUTION, Budget, Detach, DryRun, EstimateJson, Label, Name, Quiet, Where
from jarvis_workers.c2rust.commands.options import Database, Processes, ReportLanguage, Tree
from jarvis_workers.c2rust.commands.replace_options import FetchCrates
from jarvis_workers.c2rust.stages.options import CONVERSION, FastOptions, PrepareOptions, TranslateOptions

EXAMPLES = """
jarvis c2rust fast -p zlib --configure ./configure --build make --test 'make test'
jarvis c2rust fast --build make --test 'make check' -o ../library_rs
jarvis c2rust fast --build make --test ./run-tests --proof compared
jarvis c2rust fast --build make --test 'make test' --only 'inflate*'
jarvis c2rust fast --build make --test 'make test' -o library_rs --branch jarvis/c2rust
jarvis runs report last -o report.html      why a function stays in C
"""
SKELETON_EXAMPLES = """
jarvis c2rust skeleton -p zlib --configure ./configure --build make --test 'make test'
jarvis c2rust skeleton --build make --test 'make check' -o ../library_signatures
"""
PREPARE_EXAMPLES = """
jarvis c2rust prepare -p zlib --configure ./configure --build make --test 'make test'
jarvis c2rust prepare --build make --test 'make check' -g local --budget 1usd
jarvis c2rust prepare --build make --dry-run    estimate tokens and cost
"""
TRANSPILE_EXAMPLES = """
jarvis c2rust transpile -p zlib --configure ./configure --build make --test 'make test'
jarvis c2rust transpile --build make --test 'make check' -g local --budget 5usd
jarvis c2rust transpile --build make --test 'make test' --dry-run    estimate tokens and cost
jarvis c2rust transpile --build make --test 'make test' --only 'inflate*' -m 2
jarvis c2rust transpile --build make --test 'make test' --notes notes.md
jarvis c2rust transpile --build make --test 'make test' -g small -m 2 --escalate large
jarvis c2rust transpile -p zlib --interface zlib_interface -o zlib_rs
"""
Crate = Annotated[
    Path | None,
    typer.Option(
        "--crate-dir",
        "-o",
        metavar="DIR",
        help="Directory of the crate; default: beside the project, PATH_rs or PATH_skeleton.",
        rich_help_panel=CONVERSION,
    ),
]


Interface = Annotated[
    Path | None,
    typer.Option(
        metavar="CRATE",
        help="Crate with types, signatures and tests, to write only the bodies.",
        rich_help_panel=CONVERSION,
    ),
]


Branch = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Commit the crate to this branch of the git repository of its directory, and write no files.",
        rich_help_panel=CONVERSION,
    ),
]


Cache = Annotated[
    bool,
    typer.Option(
        "--cache/--no-cache",
        help="Do not reuse cached results of unchanged sources.",
        rich_help_panel=EXECUTION,
    ),
]


@dataclass(frozen=True, kw_only=True)
class SkeletonConversion(CommandOptions):
    """What `jarvis c2rust skeleton` converts, and how the crate is delivered.

    The fields from `branch` on are options of commands with more options.
    """

    order = "path compile_commands configure build tests only crate_dir processes cache lang label name"
    suffix: ClassVar = "skeleton"
    path: Tree = "."
    compile_commands: Database = None
    options: Annotated[FastOptions, Without("allow_errors proof")] = field(
        default_factory=lambda: FastOptions(forward=True, proof="built")
    )
    crate_dir: Crate = None
    processes: Processes = None
    cache: Cache = True
    lang: ReportLanguage = None
    label: Label = None
    name: Name = None
    where: Where = None
    detach: Detach = False
    quiet: Quiet = False
    branch: str | None = None
    fetch_crates: bool = False
    dry_run: bool = False
    as_json: bool = False
    sec_before: Path | None = None

    @property
    def place(self) -> Path:
        """The directory of the crate: next to the project, or in the current directory for a git URL."""
        if self.crate_dir is not None:
            return self.crate_dir
        from jarvis_workers.runs.sources import is_address  # noqa: PLC0415  (slow)

        root = Path.cwd() if is_address(self.path) else Path(self.path).resolve()
        return root.with_name(f"{root.name}_{self.suffix}")


@dataclass(frozen=True, kw_only=True)
class PrepareConversion(SkeletonConversion):
    """The options of `jarvis c2rust prepare`."""

    order = f"{SkeletonConversion.order} where detach quiet model_group budget"
    suffix: ClassVar = "rs"
    options: Annotated[PrepareOptions, Without("allow_errors proof")] = field(
        default_factory=lambda: PrepareOptions(forward=True, proof="built")
    )
    budget: Budget = None
    dry_run: DryRun = False
    as_json: EstimateJson = False


@dataclass(frozen=True, kw_only=True)
class FastConversion(SkeletonConversion):
    """The options of `jarvis c2rust fast`."""

    order = f"{SkeletonConversion.order} where detach quiet proof"
    suffix: ClassVar = "rs"
    options: Annotated[FastOptions, Without("allow_errors")] = field(default_factory=FastOptions)
    branch: Branch = None


@dataclass(frozen=True, kw_only=True)
class ModelConversion(FastConversion):
    """The options of commands that translate with a model."""

    order = (
        f"{FastConversion.order} branch fetch_crates model_group budget dry_run as_json "
        "max_retries notes review escalate sec_before"
    )
    options: Annotated[TranslateOptions, Without("allow_errors")] = field(default_factory=TranslateOptions)
    fetch_crates: FetchCrates = False
    budget: Budget = None
    dry_run: DryRun = False
    as_json: EstimateJson = False
    sec_before: Annotated[
        Path | None,
        typer.Option(
            metavar="REPORT",
            help="JSON report of jarvis sec: translate functions of its files with the highest risk first.",
            rich_help_panel=AGENTS,
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class InterfaceConversion(ModelConversion):
    """The options of `jarvis c2rust transpile`."""

    interface: Interface = None
