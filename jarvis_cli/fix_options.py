"""The options of `jarvis sec fix`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from jarvis_cli.completion import runs
from jarvis_cli.options import Budget, Detach, Form, FormJson, Group, Label, Output, Quiet, Where

PATCH = "The patches"
JudgedRun = Annotated[
    str, typer.Argument(metavar="RUN", help='Run of sec agent: id, id prefix, or "last".', autocompletion=runs)
]
FindingIds = Annotated[
    list[str] | None, typer.Argument(metavar="ID", help="Findings to fix; default: all confirmed ones.")
]
Top = Annotated[
    int | None,
    typer.Option("--top", min=1, metavar="NUMBER", help="Fix only the N worst root causes.", rich_help_panel=PATCH),
]
Build = Annotated[
    str | None,
    typer.Option(
        "--build",
        metavar="COMMAND",
        help="Command that builds the tree, run in a sandbox; default: compile the changed files.",
        rich_help_panel=PATCH,
    ),
]
Tests = Annotated[
    str | None,
    typer.Option(
        "--test", metavar="COMMAND", help="Command that runs the tests, run in a sandbox.", rich_help_panel=PATCH
    ),
]
Attempts = Annotated[
    int,
    typer.Option(min=1, max=10, metavar="NUMBER", help="Most attempts for each finding.", rich_help_panel=PATCH),
]
SecondLook = Annotated[
    bool,
    typer.Option(
        "--second-look/--no-second-look",
        help="Ask what is still wrong in a patched function.",
        rich_help_panel=PATCH,
    ),
]
WithChanges = Annotated[
    bool,
    typer.Option("--with-changes", help="Start from the uncommitted changes, not from HEAD.", rich_help_panel=PATCH),
]
Directory = Annotated[
    Path | None,
    typer.Option("--directory", "-d", metavar="DIR", help="Default: ROOT/.jarvis/sec.", rich_help_panel=PATCH),
]


@dataclass(frozen=True, kw_only=True)
class FixCommandOptions:
    """The options of `jarvis sec fix`."""

    run: JudgedRun
    ids: FindingIds = None
    top: Top = None
    build: Build = None
    test: Tests = None
    attempts: Attempts = 3
    second_look: SecondLook = True
    with_changes: WithChanges = False
    directory: Directory = None
    group: Group = None
    budget: Budget = None
    label: Label = None
    where: Where = None
    detach: Detach = False
    output: Output = None
    form: Form = None
    as_json: FormJson = False
    quiet: Quiet = False
