"""`jarvis agent`: a task for an agent over a source tree, or a conversation at the terminal."""

import typer

from jarvis_cli.kit.app import App
from jarvis_cli.kit.option_records import taking_options
from jarvis_cli.kit.options import form_of
from jarvis_workers.assistant.commands.agent_options import AgentCommand

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

app = App(help="Give an agent a task on a source tree, or converse with it.")


def agent(ctx: typer.Context, options: AgentCommand) -> int:
    """Give an agent a task over a source tree and print its answer, or converse with it at the terminal."""
    if options.is_conversation:
        from jarvis_workers.assistant.commands.chat import converse  # noqa: PLC0415

        return converse(options)
    from jarvis_workers.assistant.commands.agent_run import AgentOptions, give_task  # noqa: PLC0415  (a model's client is slow to import)
    from jarvis_workers.runs.labels import parse_labels  # noqa: PLC0415
    from jarvis_workers.runs.named_runs import check_name  # noqa: PLC0415

    return give_task(
        AgentOptions(
            task=options.task or "",
            path=options.path,
            group=options.group,
            output=options.output,
            form=form_of(options.form, options.as_json),
            budget=options.budget,
            labels=parse_labels(options.label or ()),
            name=check_name(options.name) if options.name is not None else None,
            where=options.where,
            detach=options.detach,
            record=options.record,
            replay=options.replay,
            plan=options.plan,
            overrides=options.setting_overrides,
            quiet=options.quiet,
            non_interactive=options.non_interactive,
        )
    )


app.command(uses="agents", epilog=EXAMPLES)(taking_options(AgentCommand, agent))
