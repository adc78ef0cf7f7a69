"""The options of `jarvis c2rust fast`, `skeleton`, `prepare` and `transpile`."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, ClassVar

import typer

from jarvis_cli.c2rust_options import COMPILATION, Database, Processes, ReportLanguage, Tree
from jarvis_cli.c2rust_replace_options import FetchCrates
from jarvis_cli.completion import groups
from jarvis_cli.options import (
    AGENTS,
    EXECUTION,
    Budget,
    Detach,
    DryRun,
    EstimateJson,
    Group,
    Label,
    Name,
    Quiet,
    Where,
)

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
CONVERSION = "Conversion"


class ProofChoice(StrEnum):
    """The weakest proof that is accepted."""

    built = "built"
    reached = "reached"
    compared = "compared"


Configure = Annotated[
    str | None,
    typer.Option(metavar="CMD", help="Command to run before the build, in the sandbox.", rich_help_panel=COMPILATION),
]
Build = Annotated[
    str | None,
    typer.Option(metavar="CMD", help="The project's own build command, such as make.", rich_help_panel=COMPILATION),
]
Test = Annotated[
    list[str] | None,
    typer.Option(
        "--test", metavar="CMD", help="The project's own test command; repeatable.", rich_help_panel=COMPILATION
    ),
]
ProofOption = Annotated[
    ProofChoice,
    typer.Option(
        help="Weakest proof accepted: built; reached by a test that passes; compared call by call with C.",
        rich_help_panel=CONVERSION,
    ),
]
Only = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME", help="Functions to convert, with wildcards; @FILE: one per line.", rich_help_panel=CONVERSION
    ),
]
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
class SkeletonConversion:
    """The options of `jarvis c2rust skeleton`."""

    forward: ClassVar = True
    path: Tree = "."
    compile_commands: Database = None
    configure: Configure = None
    build: Build = None
    test: Test = None
    only: Only = None
    crate_dir: Crate = None
    processes: Processes = None
    cache: Cache = True
    lang: ReportLanguage = None
    label: Label = None
    name: Name = None
    where: Where = None
    detach: Detach = False
    quiet: Quiet = False


@dataclass(frozen=True, kw_only=True)
class PrepareConversion(SkeletonConversion):
    """The options of `jarvis c2rust prepare`."""

    group: Group = None
    budget: Budget = None
    dry_run: DryRun = False
    as_json: EstimateJson = False


@dataclass(frozen=True, kw_only=True)
class FastConversion(SkeletonConversion):
    """The options of `jarvis c2rust fast`."""

    forward: ClassVar = False
    proof: ProofOption = ProofChoice.reached
    branch: Branch = None


@dataclass(frozen=True, kw_only=True)
class ModelConversion(FastConversion):
    """The options of commands that translate with a model."""

    fetch_crates: FetchCrates = False
    group: Group = None
    budget: Budget = None
    dry_run: DryRun = False
    as_json: EstimateJson = False
    max_retries: Annotated[
        int,
        typer.Option(
            "--max-retries",
            "-m",
            min=0,
            max=50,
            metavar="NUMBER",
            help="Answers after the first.",
            rich_help_panel=AGENTS,
        ),
    ] = 5
    notes: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Text that is added to each question.", rich_help_panel=AGENTS),
    ] = None
    review: Annotated[
        bool,
        typer.Option(
            "--review/--no-review",
            help="Review each accepted function: 2 to 4 more answers.",
            rich_help_panel=AGENTS,
        ),
    ] = True
    escalate: Annotated[
        str | None,
        typer.Option(
            metavar="GROUP",
            help="Model group for functions of which no answer was accepted.",
            autocompletion=groups,
            rich_help_panel=AGENTS,
        ),
    ] = None
    sec_before: Annotated[
        Path | None,
        typer.Option(
            metavar="REPORT",
            help="JSON report of jarvis sec: translate functions of its files with the highest risk first.",
            rich_help_panel=AGENTS,
        ),
    ] = None
    drivers: Annotated[
        bool,
        typer.Option(
            "--drivers/--no-drivers",
            help="Ask for C programs that call the functions which no test reaches: 1 to 3 more answers each.",
            rich_help_panel=AGENTS,
        ),
    ] = True


@dataclass(frozen=True, kw_only=True)
class InterfaceConversion(ModelConversion):
    """The options of `jarvis c2rust transpile`."""

    interface: Interface = None
