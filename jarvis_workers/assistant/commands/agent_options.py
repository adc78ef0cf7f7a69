"""The options of `jarvis agent`: of a task that runs as a job, and of a conversation in this process."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from jarvis_cli.kit.options import (
    AGENTS,
    AnswerForm,
    AnswerOutput,
    Budget,
    Detach,
    FormJson,
    Group,
    Label,
    Name,
    Quiet,
    Where,
)

CONVERSATION = "Conversation"

Task = Annotated[
    str | None,
    typer.Option("--task", "-T", metavar="TASK", help="The task; - reads it from stdin. Without: a conversation."),
]
Config = Annotated[
    str | None,
    typer.Option("--config", "-c", metavar="FILE|NAME", help="Definition of the agent.", rich_help_panel=CONVERSATION),
]
ToolGroup = Annotated[
    str | None,
    typer.Option(
        "--tool-group",
        "-G",
        metavar="NAME",
        help="Only the tools of this group of tool_groups.",
        rich_help_panel=CONVERSATION,
    ),
]
Restore = Annotated[
    bool,
    typer.Option("--restore-session", help="Continue the saved conversation.", rich_help_panel=CONVERSATION),
]
Interactive = Annotated[
    bool,
    typer.Option("--interactive", "-i", help="Converse, also after -T.", rich_help_panel=CONVERSATION),
]
NonInteractive = Annotated[bool, typer.Option("--non-interactive", "-n", help="Never wait for a person.")]
Routine = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="With -T: a background task with this name.", rich_help_panel=CONVERSATION),
]
Definitions = Annotated[
    bool, typer.Option("--definitions", help="List the built-in definitions.", rich_help_panel=CONVERSATION)
]
Tree = Annotated[str, typer.Option("--path", "-p", metavar="PATH", help="Source directory or git URL.")]
Record = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Store the model's answers in DIR; local only.", rich_help_panel=AGENTS),
]
Replay = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Replay the answers in DIR; no model is called.", rich_help_panel=AGENTS),
]
Plan = Annotated[
    bool,
    typer.Option(
        "--plan/--no-plan",
        help="Let the agent split the task into sub-tasks, each for an agent of its own.",
        rich_help_panel=AGENTS,
    ),
]
NoMethodology = Annotated[
    bool,
    typer.Option(
        "--disable-methodology-analysis",
        help="Use no methodologies, and do not analyze the task.",
        rich_help_panel=AGENTS,
    ),
]


@dataclass(frozen=True, kw_only=True)
class AgentCommand:
    """All options of the command."""

    task: Task = None
    path: Tree = "."
    group: Group = None
    output: AnswerOutput = None
    form: AnswerForm = None
    as_json: FormJson = False
    budget: Budget = None
    label: Label = None
    name: Name = None
    where: Where = None
    detach: Detach = False
    record: Record = None
    replay: Replay = None
    plan: Plan = False
    disable_methodology_analysis: NoMethodology = False
    quiet: Quiet = False
    config: Config = None
    tool_group: ToolGroup = None
    restore: Restore = False
    interactive: Interactive = False
    non_interactive: NonInteractive = False
    routine: Routine = None
    definitions: Definitions = False

    @property
    def is_conversation(self) -> bool:
        """Whether the agent runs in this process, and not as a job."""
        choices = (self.config, self.tool_group, self.restore, self.interactive, self.routine, self.definitions)
        return self.task is None or any(choices)

    @property
    def setting_overrides(self) -> dict[str, object]:
        """The settings that options replace."""
        names = ("agent.use_methodology", "agent.use_analysis") if self.disable_methodology_analysis else ()
        return dict.fromkeys(names, False)

    @property
    def of_job(self) -> list[str]:
        """The given options that only a job has."""
        given = {
            "--output": self.output,
            "--format": self.form,
            "--json": self.as_json,
            "--budget": self.budget,
            "--label": self.label,
            "--name": self.name,
            "--where": self.where,
            "--detach": self.detach,
            "--record": self.record,
            "--replay": self.replay,
            "--plan": self.plan,
        }
        return [option for option, value in given.items() if value]
