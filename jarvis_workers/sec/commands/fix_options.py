"""The options of `jarvis sec fix`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from jarvis_cli.kit.option_records import CommandOptions
from jarvis_cli.kit.options import Budget, Detach, Form, FormJson, Label, Output, Quiet, Where
from jarvis_workers.sec.stages.fix_options import PATCH, FixRequest

Directory = Annotated[
    Path | None,
    typer.Option("--directory", "-d", metavar="DIR", help="Default: ROOT/.jarvis/sec.", rich_help_panel=PATCH),
]


@dataclass(frozen=True, kw_only=True)
class FixCommandOptions(CommandOptions):
    """What to fix, and how the patches are delivered."""

    order = "run ids top build tests attempts second_look with_changes directory"
    request: FixRequest
    directory: Directory = None
    budget: Budget = None
    label: Label = None
    where: Where = None
    detach: Detach = False
    output: Output = None
    form: Form = None
    as_json: FormJson = False
    quiet: Quiet = False
