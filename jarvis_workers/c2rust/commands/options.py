"""The options of `jarvis c2rust scan`."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer

from jarvis_cli.kit.language import LanguageCode
from jarvis_cli.kit.option_records import CommandOptions
from jarvis_cli.kit.options import EXECUTION, REPORT, Detach, Label, Name, Quiet, Where
from jarvis_workers.builds.command_words import COMPILATION, BuildCommands
from jarvis_workers.c2rust.stages.options import ParseOptions
from jarvis_workers.option import Option

EXAMPLES = """
jarvis c2rust scan -p zlib --build make     read what the build compiles
jarvis c2rust scan                          with compile_commands.json
jarvis c2rust scan --compile-commands out/compile_commands.json
jarvis c2rust scan --dot graph.dot --subgraphs-dir graphs
jarvis runs report last -o graph.html       the interactive page
"""
PICTURES = "Pictures"

Tree = Annotated[str, typer.Option("--path", "-p", metavar="PATH", help="Root of the C project, or a git URL.")]
Database = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="compile_commands.json; default: at the root or in build*/.",
        rich_help_panel=COMPILATION,
    ),
]
Dot = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Write the call graph in DOT.", rich_help_panel=PICTURES)
]
OnlyDot = Annotated[
    bool,
    typer.Option("--only-dot", help="Write the graph of the last scan, without scanning.", rich_help_panel=PICTURES),
]
Subgraphs = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Write a graph per root function.", rich_help_panel=PICTURES)
]
OnlySubgraphs = Annotated[
    bool,
    typer.Option(
        "--only-subgraphs", help="Write the graphs of the last scan, without scanning.", rich_help_panel=PICTURES
    ),
]
Png = Annotated[bool, typer.Option("--png/--no-png", help="Do not draw pictures (graphviz).", rich_help_panel=PICTURES)]
Processes = Annotated[
    int | None,
    typer.Option("-j", "--processes", metavar="N", help="Processes; default: all cores.", rich_help_panel=EXECUTION),
    Option(setting="processes"),
]

ReportLanguage = Annotated[
    LanguageCode | None,
    typer.Option(
        "--lang",
        metavar="LANG",
        help="en or zh: language of the report; default: system locale.",
        rich_help_panel=REPORT,
    ),
]


@dataclass(frozen=True, kw_only=True)
class ProjectScan(CommandOptions):
    """What `jarvis c2rust scan` reads, and how the symbols and graphs are delivered."""

    path: Tree = "."
    compile_commands: Database = None
    commands: BuildCommands = field(default_factory=BuildCommands)
    options: ParseOptions = field(default_factory=ParseOptions)
    dot: Dot = None
    only_dot: OnlyDot = False
    subgraphs_dir: Subgraphs = None
    only_subgraphs: OnlySubgraphs = False
    png: Png = True
    processes: Processes = None
    lang: ReportLanguage = None
    label: Label = None
    name: Name = None
    where: Where = None
    detach: Detach = False
    quiet: Quiet = False
