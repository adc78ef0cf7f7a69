"""`jarvis agent`: a task for an agent over a source tree, or a conversation at the terminal."""

from pathlib import Path
from typing import Annotated

import typer

from jarvis_cli.app import App
from jarvis_cli.options import AGENTS, REPORT, Budget, Detach, FormJson, Group, Label, Name, Quiet, Where, form_of

EXAMPLES = """\
\b
Examples:
  jarvis agent                                   a conversation; /help lists its commands
  jarvis agent -c explain -p src                 with a built-in or own definition; see --definitions
  jarvis agent --restore-session                 continue the saved conversation
  jarvis agent -T 'Where is the length of a request checked?'
  jarvis agent -p src -T - < task.txt -o answer.md
  jarvis agent -T 'Explain lib/url.c' -g local   model group "local" of jarvis.yaml
  jarvis agent -T '...' --budget 0.50usd         pause before the cost exceeds this
  jarvis agent -T '...' --record answers         record the answers of models, for --replay answers
  jarvis runs transcript last                    the whole conversation

\b
With -T alone the agent reads a copy of the sources, as a run that jarvis runs lists; with an option of
"Conversation" it works on the directory itself, in this process. Scripts run in a sandbox.
Exit 3: there is no answer.
"""
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
NonInteractive = Annotated[
    bool, typer.Option("--non-interactive", "-n", help="Never wait for a person.", rich_help_panel=CONVERSATION)
]
Routine = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="With -T: a background task with this name.", rich_help_panel=CONVERSATION),
]
Definitions = Annotated[
    bool, typer.Option("--definitions", help="List the built-in definitions.", rich_help_panel=CONVERSATION)
]
Tree = Annotated[str, typer.Option("--path", "-p", metavar="PATH", help="Source directory or git URL.")]
Output = Annotated[
    str | None,
    typer.Option("--output", "-o", metavar="FILE", help="File for the answer; - is stdout.", rich_help_panel=REPORT),
]
Form = Annotated[
    str | None, typer.Option("--format", metavar="FORMAT", help="text, markdown or json.", rich_help_panel=REPORT)
]
Record = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Store the model's answers in DIR; local only.", rich_help_panel=AGENTS),
]
Replay = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Replay the answers in DIR; no model is called.", rich_help_panel=AGENTS),
]

app = App(help="Give an agent a task on a source tree.")


@app.command(epilog=EXAMPLES)
def agent(
    task: Task = None,
    path: Tree = ".",
    group: Group = None,
    output: Output = None,
    form: Form = None,
    as_json: FormJson = False,
    budget: Budget = None,
    label: Label = None,
    name: Name = None,
    where: Where = None,
    detach: Detach = False,
    record: Record = None,
    replay: Replay = None,
    quiet: Quiet = False,
    config: Config = None,
    tool_group: ToolGroup = None,
    restore: Restore = False,
    interactive: Interactive = False,
    non_interactive: NonInteractive = False,
    routine: Routine = None,
    definitions: Definitions = False,
) -> int:
    """Give an agent a task over a source tree and print its answer, or converse with it at the terminal."""
    of_job = {
        "--output": output, "--format": form, "--json": as_json, "--budget": budget, "--label": label, "--name": name,
        "--where": where, "--detach": detach, "--record": record, "--replay": replay,
    }  # fmt: skip
    converses = (config, tool_group, restore, interactive, routine, definitions)
    if task is None or any(converses):
        from jarvis_cli.chat import ChatRequest, converse  # noqa: PLC0415

        return converse(
            ChatRequest(
                task=task,
                path=path,
                group=group,
                config=config,
                tool_group=tool_group,
                restore=restore,
                interactive=interactive,
                non_interactive=non_interactive,
                routine=routine,
                definitions=definitions,
                quiet=quiet,
                of_job=tuple(option for option, value in of_job.items() if value),
            )
        )
    from jarvis_cli.agent_run import AgentOptions, give_task  # noqa: PLC0415  (a model's client is slow to import)
    from jarvis_workers.service.labels import parse_labels  # noqa: PLC0415
    from jarvis_workers.service.named_runs import check_name  # noqa: PLC0415

    return give_task(
        AgentOptions(
            task=task,
            path=path,
            group=group,
            output=output,
            form=form_of(form, as_json),
            budget=budget,
            labels=parse_labels(label or ()),
            name=check_name(name) if name is not None else None,
            where=where,
            detach=detach,
            record=record,
            replay=replay,
            quiet=quiet,
        )
    )
