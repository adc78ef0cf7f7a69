"""`jarvis team`: one task for a team of agents over a source tree, non-interactive."""

from pathlib import Path
from typing import Annotated

import typer

from jarvis_cli.kit.app import App
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
    form_of,
)
from jarvis_workers.assistant.commands.agent_options import Record, Replay, Tree

EXAMPLES = """\
\b
Examples:
  jarvis team -c team.yaml -T 'Review the error handling of lib/'
  jarvis team -c team.yaml -i - < task.txt -o answer.md
  jarvis team -c review -T 'Is lib/url.c safe?'  a built-in team
  jarvis runs transcript last                    the whole conversation

\b
team.yaml:
  main_agent_name: lead
  agents:
    - name: lead
      system_prompt: You plan the review and write the final answer.
    - name: reader
      description: reads code and reports what it does

\b
The agents read a copy of the sources and run scripts in a sandbox.
Exit 3: there is no answer.
"""

Config = Annotated[
    Path,
    typer.Option(
        "--config",
        "-c",
        metavar="FILE|NAME",
        help="Definition of the team: a file, or a built-in one.",
        rich_help_panel=AGENTS,
    ),
]
Task = Annotated[
    str, typer.Option("--task", "-T", "--input", "-i", metavar="TASK", help="The task; - reads it from stdin.")
]

app = App(help="Give a team of agents a task on a source tree.")


@app.command(uses="agents", epilog=EXAMPLES)
def team(
    task: Task,
    config: Config,
    path: Tree = ".",
    group: Group = None,
    output: AnswerOutput = None,
    form: AnswerForm = None,
    as_json: FormJson = False,
    budget: Budget = None,
    label: Label = None,
    name: Name = None,
    where: Where = None,
    detach: Detach = False,
    record: Record = None,
    replay: Replay = None,
    quiet: Quiet = False,
) -> int:
    """Give a team of agents a task over a source tree, and print its answer. Non-interactive."""
    from jarvis_workers.assistant.commands.agent_run import AgentOptions, give_task  # noqa: PLC0415  (a model's client is slow to import)
    from jarvis_workers.runs.labels import parse_labels  # noqa: PLC0415
    from jarvis_workers.runs.named_runs import check_name  # noqa: PLC0415

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
            team=config,
        )
    )
