"""`jarvis code`: let an agent change code, on a branch of its own; accept or reject the change."""

from typing import Annotated

import typer

from jarvis_cli.kit.app import App
from jarvis_cli.kit.option_records import taking_options
from jarvis_cli.kit.options import (
    AsJson,
    RunId,
)
from jarvis_workers.assistant.commands.code_options import CodeCommand

EXAMPLES = """\
\b
Examples:
  jarvis code -r 'Check the length in parse_header' --gate 'make && make test'
  jarvis code -r - < task.txt --budget 2usd
  jarvis code                              enter tasks at the terminal
  jarvis code diff last; jarvis code accept last
  jarvis code --restore-session            continue after an interrupt

\b
The change becomes a commit on the branch jarvis/code-RUN, in a worktree of its own; your files, index and branch
stay as they are until you accept it.
Exit 1: the gate failed to the end; the branch has the change so far. Exit 3: there is no complete answer.
"""

Force = Annotated[
    bool, typer.Option("--force", help="Also if the task is not done, or the worktree has uncommitted changes.")
]

app = App(help="Let an agent change code, on a branch of its own.")


def code(ctx: typer.Context, options: CodeCommand) -> int:
    """Let an agent change the code of this git repository, on a branch of its own."""
    if ctx.invoked_subcommand is not None:
        return 0

    from jarvis_workers.assistant.commands.code_run import change_code  # noqa: PLC0415  (a model's client is slow to import)

    return change_code(options)


app.callback(invoke_without_command=True, epilog=EXAMPLES)(taking_options(CodeCommand, code))


@app.command(examples="jarvis code accept last")
def accept(run: RunId, force: Force = False) -> int:
    """Merge a change into the current branch; if uncommitted files overlap it, apply it to the working tree."""
    from jarvis_workers.assistant.commands import code_decisions  # noqa: PLC0415

    return code_decisions.accept(run, force=force)


@app.command(examples="jarvis code reject last")
def reject(run: RunId, force: Force = False) -> int:
    """Drop a change: its branch and its worktree."""
    from jarvis_workers.assistant.commands import code_decisions  # noqa: PLC0415

    return code_decisions.reject(run, force=force)


@app.command(examples="jarvis code diff last --full | git apply")
def diff(
    run: RunId,
    full: Annotated[bool, typer.Option("--full", help="The whole difference as a patch, not its preview.")] = False,
) -> int:
    """Print a change by file."""
    from jarvis_workers.assistant.commands import code_decisions  # noqa: PLC0415

    return code_decisions.diff(run, full=full)


@app.command("list", examples="jarvis code list --json")
def list_all(as_json: AsJson = False) -> int:
    """List the changes of this repository, newest first."""
    from jarvis_workers.assistant.commands import code_decisions  # noqa: PLC0415

    return code_decisions.list_changes(as_json=as_json)
