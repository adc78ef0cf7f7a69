"""The options of `jarvis code`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from jarvis_cli.agent_options import Form, Output
from jarvis_cli.options import AGENTS, Budget, Detach, FormJson, Group, Label, Quiet, Where

CHANGE = "The change"
Requirement = Annotated[
    str | None,
    typer.Option(
        "--requirement", "-r", metavar="TASK", help="The task; - reads it from stdin.", rich_help_panel=CHANGE
    ),
]
Gate = Annotated[
    str | None,
    typer.Option(
        metavar="COMMAND",
        help="Command that must succeed, run in a sandbox; setting code.gate.",
        rich_help_panel=CHANGE,
    ),
]
Attempts = Annotated[
    int | None,
    typer.Option(
        min=1, max=20, metavar="NUMBER", help="Most runs of the gate; setting code.attempts.", rich_help_panel=CHANGE
    ),
]
WithChanges = Annotated[
    bool,
    typer.Option("--with-changes", help="Start from the uncommitted changes, not from HEAD.", rich_help_panel=CHANGE),
]
Prefix = Annotated[str, typer.Option(metavar="TEXT", help="Text before the commit's subject.", rich_help_panel=CHANGE)]
Suffix = Annotated[str, typer.Option(metavar="TEXT", help="Text after the commit's subject.", rich_help_panel=CHANGE)]
ToolGroup = Annotated[
    str | None,
    typer.Option(
        "--tool-group",
        "-G",
        metavar="GROUP",
        help="Tools of the agent; setting tool_groups.",
        rich_help_panel=AGENTS,
    ),
]
AppendTools = Annotated[
    str | None,
    typer.Option(metavar="NAME,...", help="Further tools, such as those of ~/.jarvis/tools.", rich_help_panel=AGENTS),
]
Plan = Annotated[
    bool | None,
    typer.Option("--plan/--no-plan", help="Split the task into sub-tasks; setting code.plan.", rich_help_panel=AGENTS),
]
Config = Annotated[
    Path | None, typer.Option("--config", "-f", metavar="FILE", help="Settings with precedence over jarvis.yaml.")
]
Restore = Annotated[
    bool, typer.Option("--restore-session", help="Continue the unfinished run of this repository, if there is one.")
]
NonInteractive = Annotated[bool, typer.Option("--non-interactive", "-n", help="Ask nothing; needs -r.")]


@dataclass(frozen=True, kw_only=True)
class CodeOptions:
    """The options of `jarvis code`."""

    requirement: Requirement = None
    gate: Gate = None
    attempts: Attempts = None
    with_changes: WithChanges = False
    prefix: Prefix = ""
    suffix: Suffix = ""
    group: Group = None
    tool_group: ToolGroup = None
    append_tools: AppendTools = None
    plan: Plan = None
    budget: Budget = None
    config: Config = None
    restore_session: Restore = False
    non_interactive: NonInteractive = False
    label: Label = None
    where: Where = None
    detach: Detach = False
    output: Output = None
    form: Form = None
    as_json: FormJson = False
    quiet: Quiet = False
