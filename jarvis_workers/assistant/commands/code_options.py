"""The options of `jarvis code`."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer

from jarvis_cli.kit.option_records import CommandOptions
from jarvis_cli.kit.options import (
    AnswerForm,
    AnswerOutput,
    Budget,
    Detach,
    FormJson,
    Label,
    Quiet,
    Where,
)
from jarvis_workers.assistant.code.code_options import CHANGE, CodeRequest

Requirement = Annotated[
    str | None,
    typer.Option(
        "--requirement", "-r", metavar="TASK", help="The task; - reads it from stdin.", rich_help_panel=CHANGE
    ),
]
Config = Annotated[
    Path | None, typer.Option("--config", "-f", metavar="FILE", help="Settings with precedence over jarvis.yaml.")
]
Restore = Annotated[
    bool, typer.Option("--restore-session", help="Continue the unfinished run of this repository, if there is one.")
]
NonInteractive = Annotated[bool, typer.Option("--non-interactive", "-n", help="Ask nothing; needs -r.")]


@dataclass(frozen=True, kw_only=True)
class CodeCommand(CommandOptions):
    """What to change, and how the answer is delivered."""

    order = "requirement gate attempts with_changes prefix suffix model_group tool_group append_tools plan budget"
    requirement: Requirement = None
    request: CodeRequest = field(default_factory=CodeRequest)
    budget: Budget = None
    config: Config = None
    restore_session: Restore = False
    non_interactive: NonInteractive = False
    label: Label = None
    where: Where = None
    detach: Detach = False
    output: AnswerOutput = None
    form: AnswerForm = None
    as_json: FormJson = False
    quiet: Quiet = False
