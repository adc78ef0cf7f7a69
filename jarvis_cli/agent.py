"""`jarvis agent`: one task for one agent over a source tree, non-interactive."""

from pathlib import Path
from typing import Annotated

import typer

from jarvis_cli.app import App
from jarvis_cli.options import AGENTS, REPORT, Budget, Detach, FormJson, Group, Label, Name, Quiet, Where, form_of

EXAMPLES = """\
\b
Examples:
  jarvis agent -T 'Where is the length of a request checked?'
  jarvis agent -p src -T - < task.txt -o answer.md
  jarvis agent -T 'Explain lib/url.c' -g local   model group "local" of jarvis.yaml
  jarvis agent -T '...' --budget 0.50usd         pause before the cost exceeds this
  jarvis agent -T '...' --record answers         record the answers of models, for --replay answers
  jarvis runs transcript last                    the whole conversation

\b
The agent reads a copy of the sources and runs scripts in a sandbox.
Exit 3: there is no answer.
"""

Task = Annotated[str, typer.Option("--task", "-T", metavar="TASK", help="The task; - reads it from stdin.")]
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
Plan = Annotated[
    bool,
    typer.Option(
        "--plan/--no-plan",
        help="Let the agent split the task into sub-tasks, each for an agent of its own.",
        rich_help_panel=AGENTS,
    ),
]

app = App(help="Give an agent a task on a source tree.")


@app.command(epilog=EXAMPLES)
def agent(
    task: Task,
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
    plan: Plan = False,
    quiet: Quiet = False,
) -> int:
    """Give an agent a task over a source tree, and print its answer. Non-interactive."""
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
            plan=plan,
            quiet=quiet,
        )
    )
