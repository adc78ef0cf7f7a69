"""`jarvis agent`: one task for one agent, over a source tree; nobody is asked anything meanwhile."""

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from jarvis_cli.answer import KIND, check_format, deliver_answer
from jarvis_cli.app import App
from jarvis_cli.carry import carry_out
from jarvis_cli.delivery import Delivery, delivery
from jarvis_cli.options import AGENTS, REPORT, Budget, Detach, FormJson, Group, Quiet, Where, form_of
from jarvis_cli.progress import display
from jarvis_cli.scan import leave, wait_for_workers
from jarvis_cli.screens import write_line
from jarvis_workers.errors import UsageError
from jarvis_workers.platforms.remembering import Folder
from jarvis_workers.service import desk
from jarvis_workers.service.budgets import budget_of
from jarvis_workers.service.models import model_name
from jarvis_workers.service.runs import find_run
from jarvis_workers.service.sources import Source, open_source
from jarvis_workers.service.submit import AgentTask, Request, submit
from jarvis_workers.settings import Settings, load_settings
from jarvis_workers.steps.talks import Means

TASK_MAX = 1_000_000
EXAMPLES = """\
\b
Examples:
  jarvis agent -T 'Where is the length of a request checked?'
  jarvis agent -p src -T - < task.txt -o answer.md
  jarvis agent -T 'Explain lib/url.c' -g local   model group "local" of jarvis.yaml
  jarvis agent -T '...' --budget 0.50usd         pause before it costs more
  jarvis agent -T '...' --record answers         then --replay answers asks no model
  jarvis runs transcript last                    the whole conversation

\b
The agent reads a copy of the sources and runs scripts in a sandbox.
Exit 3: there is no answer.
"""

app = App(help="Give an agent a task over a source tree.")


@app.command(epilog=EXAMPLES)
def agent(
    task: Annotated[str, typer.Option("--task", "-T", metavar="TASK", help="The task; - reads it from stdin.")],
    path: Annotated[str, typer.Option("--path", "-p", metavar="PATH", help="Source directory or git URL.")] = ".",
    group: Group = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="File for the answer; - is stdout.", rich_help_panel=REPORT
        ),
    ] = None,
    form: Annotated[
        str | None,
        typer.Option("--format", metavar="FORMAT", help="text, markdown or json.", rich_help_panel=REPORT),
    ] = None,
    as_json: FormJson = False,
    budget: Budget = None,
    where: Where = None,
    detach: Detach = False,
    record: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Store the model's answers in DIR; local only.", rich_help_panel=AGENTS),
    ] = None,
    replay: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Replay the answers in DIR; no model is asked.", rich_help_panel=AGENTS),
    ] = None,
    quiet: Quiet = False,
) -> int:
    """Give an agent a task over a source tree, and print its answer. Non-interactive."""
    settings = load_settings({"where": where, "agent.budget": budget}, directory=Path.cwd())
    if record and replay:
        raise UsageError("--record and --replay: one of them, not both")
    if settings.place == "cluster" and (record or replay):
        raise UsageError("--record and --replay are for local runs; add --where local")
    if detach and settings.place == "local":
        raise UsageError("--detach needs a cluster (JARVIS_BROKER_URL): a local run is executed by this command")
    asked = delivery(output, form_of(form, as_json), None, None, quiet=quiet)
    check_format(asked.form)
    wanted = AgentTask(_read_task(task), model_name(settings, group), desk.agent_limits_of(settings))
    if settings.place == "cluster":
        return _on_cluster(settings, path, wanted, None if detach else asked, quiet)
    return _here(settings, path, wanted, asked, quiet, record or replay, offline=replay is not None)


def _read_task(task: str) -> str:
    try:
        text = (sys.stdin.read(TASK_MAX + 1) if task == "-" else task).strip()
        text.encode()
    except UnicodeError as error:
        raise UsageError("-T is not UTF-8 text") from error
    if "\0" in text:
        raise UsageError("-T holds a NUL, and should be text")
    if not text:
        raise UsageError("-T is empty; say what to do")
    if len(text) > TASK_MAX:
        raise UsageError(f"-T is longer than {TASK_MAX:,} characters; put the text into a file of the sources")
    return text


def _here(
    settings: Settings,
    path: str,
    wanted: AgentTask,
    asked: Delivery,
    quiet: bool,
    answers: Path | None,
    *,
    offline: bool,
) -> int:
    def change(means: Means) -> Means:
        return replace(means, recorded=Folder(answers), offline=offline) if answers else means

    if answers:
        _check_folder(answers, offline=offline)
    with desk.store_of(settings, tell=write_line) as store:
        with (
            display(quiet) as screen,
            desk.executor_of(
                settings, store, tell=screen.tell, show=screen.show, talks=lambda: desk.talks_of(settings, change)
            ) as local,
        ):
            with open_source(path, bounds=desk.tree_bounds_of(settings)) as source:
                request = _request(settings, source, wanted, local.executor)
                run_id = submit(store, local.world.blobs, request, screen.packing)
            run = carry_out(local, run_id, screen)
        return deliver_answer(store, desk.blobs_of(settings), run, asked, screen)


def _check_folder(answers: Path, *, offline: bool) -> None:
    """Answers that cannot be kept would be paid for in vain."""
    if offline and not answers.is_dir():
        raise UsageError(f"--replay {answers}: no such directory")
    try:
        answers.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"--record {answers}: cannot be made: {error.strerror}") from error
    if not offline and not os.access(answers, os.W_OK | os.X_OK):
        raise UsageError(f"--record {answers}: no permission to write there")


def _on_cluster(settings: Settings, path: str, wanted: AgentTask, asked: Delivery | None, quiet: bool) -> int:
    from jarvis_workers.service import fleet  # noqa: PLC0415  (celery is slow to import)

    with desk.store_of(settings, tell=write_line) as store, fleet.bell_of(settings) as bell:
        blobs = desk.blobs_of(settings)
        with display(quiet) as screen:
            with open_source(path, bounds=desk.tree_bounds_of(settings)) as source:
                request = _request(settings, source, wanted, fleet.EXECUTOR)
                run_id = submit(store, blobs, request, screen.packing)
            if asked is None:
                return leave(settings, store, bell, find_run(store, run_id), screen)
            run = wait_for_workers(settings, store, run_id, screen)
        return deliver_answer(store, blobs, run, asked, screen)


def _request(settings: Settings, source: Source, wanted: AgentTask, executor: str) -> Request:
    asked = desk.request_for(settings, source, KIND, executor)
    budget = budget_of(settings, wanted.model_group)
    selection = replace(asked.selection, suffixes=None)
    return replace(asked, selection=selection, agent=wanted, may_be_empty=True, budget=budget)
