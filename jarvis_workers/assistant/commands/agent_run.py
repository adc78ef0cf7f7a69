"""Execute `jarvis agent` and `jarvis team` locally or on a cluster."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from jarvis_cli.kit import answer_output
from jarvis_cli.kit.answer_output import check_format
from jarvis_cli.kit.project_run import RunCommand, execute_run
from jarvis_cli.kit.report_target import Delivery
from jarvis_cli.kit.report_target import delivery as delivery_of
from jarvis_cli.kit.status_output import Display, no_line, write_line
from jarvis_workers.assistant.chat.learned_methodologies import keep_methodologies
from jarvis_workers.assistant.chat.methodology_files import methodologies_for
from jarvis_workers.assistant.chat.team_file import read_team
from jarvis_workers.assistant.code.team_options import TeamOptions
from jarvis_workers.assistant.commands.task_text import read_task
from jarvis_workers.assistant.task.task_options import TaskOptions
from jarvis_workers.errors import UsageError
from jarvis_workers.runs import conversations
from jarvis_workers.runs.budgets import budget_of
from jarvis_workers.runs.configured_tools import check_search_key
from jarvis_workers.runs.conversation_limits import agent_limits_of
from jarvis_workers.runs.health.needed_extras import require_extras
from jarvis_workers.runs.models import model_name
from jarvis_workers.runs.named_runs import RunName, request_hash
from jarvis_workers.runs.request import RunInput, RunRequest
from jarvis_workers.runs.run_kinds import StoredRun
from jarvis_workers.runs.scan_request import options_of, request_for
from jarvis_workers.runs.sources import SourceTree, is_address, project_name
from jarvis_workers.settings import Settings, load_settings

# Output of `jarvis agent` and `jarvis team`: the answer, and what the agent has learned.

KIND = "agent"
TEAM = "team"


def report(stored: StoredRun, delivery: Delivery) -> int:
    """Write the answer; return the exit code."""
    return answer_output.report(stored, delivery)


def deliver(stored: StoredRun, delivery: Delivery, screen: Display) -> int:
    """Write the answer, and save what the agent has learned; return the exit code."""
    answer = answer_output.write_answer(stored, delivery)
    keep_methodologies(stored.settings.data_dir, answer, screen.tell)
    return answer_output.conclude_answer(stored, answer, screen, delivery.output)


def conclude(stored: StoredRun, screen: Display) -> int:
    """Print the summary line, and save what the agent has learned; return the exit code."""
    answer = conversations.read_answer(stored.store, stored.blobs, stored.run)
    keep_methodologies(stored.settings.data_dir, answer, screen.tell)
    return answer_output.conclude_answer(stored, answer, screen)


def export(stored: StoredRun, directory: Path | None) -> int:
    """Raise UsageError: an answer has no files."""
    return answer_output.export(stored, directory)


AgentTask = TaskOptions | TeamOptions


@dataclass(frozen=True, kw_only=True)
class AgentOptions:
    """The options of `jarvis agent` and `jarvis team`.

    `form` and `output` are the format and the target of the answer, `team` is the definition file of a team.
    """

    task: str
    path: str
    group: str | None
    output: str | None
    form: str | None
    budget: str | None
    labels: Mapping[str, str]
    name: str | None
    where: str | None
    detach: bool
    record: Path | None
    replay: Path | None
    quiet: bool
    non_interactive: bool = False
    plan: bool = False
    team: Path | None = None
    overrides: Mapping[str, object] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        return TEAM if self.team else KIND


def give_task(options: AgentOptions) -> int:
    """Run an agent or a team on a task and print the answer; return the exit code."""
    settings = load_settings(
        {"where": options.where, "agent.budget": options.budget, **options.overrides}, directory=Path.cwd()
    )
    answers = options.record or options.replay
    if options.record and options.replay:
        raise UsageError("--record and --replay cannot be combined")
    if settings.place == "cluster" and answers:
        raise UsageError("--record and --replay are for local runs; add --where local")
    if options.detach and settings.place == "local":
        raise UsageError("--detach needs a cluster (JARVIS_BROKER_URL): a local run is executed by this command")
    require_extras(settings)
    check_search_key(settings)
    where_to = delivery_of(options.output, options.form, None, None, quiet=options.quiet)
    check_format(where_to.form)
    task = replace(_task_options(settings, options), **where_to.run_options)
    if answers:
        _check_folder(answers, offline=options.replay is not None)
    command = RunCommand(
        path=options.path,
        request=partial(_request, settings, options, task),
        deliver=lambda stored, screen: deliver(stored, where_to, screen),
        detach=options.detach,
        quiet=options.quiet,
        name=_run_name(settings, options, task),
        labels=options.labels,
    )
    budget = partial(budget_of, settings, task.model_group)
    return execute_run(settings, command, budget=budget, answers=answers, offline=options.replay is not None)


def _task_options(settings: Settings, options: AgentOptions) -> AgentTask:
    team = read_team(options.team, settings, write_line) if options.team else None
    facts: dict[str, Any] = {
        "task": read_task(options.task),
        "model_group": model_name(settings, options.group),
        "agent_limits": agent_limits_of(settings),
    }
    if team:
        return options_of(settings, TeamOptions, team=team, **facts)
    root = None if is_address(options.path) else Path(options.path)
    tell = no_line if options.quiet else write_line
    # Recorded answers are found by the whole request, which must not depend on what was learned since.
    recorded = bool(options.record or options.replay)
    return options_of(
        settings,
        TaskOptions,
        plan=options.plan,
        project=project_name(options.path) if settings.agent.memory and not recorded else "",
        force_save_memory=settings.agent.force_save_memory,
        methodologies="" if recorded else methodologies_for(settings, facts["task"], root, tell),
        use_analysis=settings.agent.use_analysis,
        **facts,
    )


def _check_folder(answers: Path, *, offline: bool) -> None:
    """Check the directory of recorded answers before any money is spent. Raises UsageError."""
    if offline and not answers.is_dir():
        raise UsageError(f"--replay {answers}: no such directory")
    try:
        answers.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"--record {answers}: cannot be created: {error.strerror}") from error
    if not offline and not os.access(answers, os.W_OK | os.X_OK):
        raise UsageError(f"--record {answers}: no permission to write there")


def _request(
    settings: Settings, options: AgentOptions, task: AgentTask, source: SourceTree, executor: str, _: Display
) -> RunRequest[RunInput]:
    request = request_for(settings, source, options.kind, executor, RunInput(task))
    selection = replace(request.selection, suffixes=None)
    return replace(request, selection=selection, may_be_empty=True, budget=budget_of(settings, task.model_group))


def _run_name(settings: Settings, options: AgentOptions, task: AgentTask) -> RunName | None:
    """Return the name of the run with the hash of its request, or None if it is not named."""
    if options.name is None:
        return None
    root = options.path if is_address(options.path) else os.path.realpath(options.path)
    scan = settings.scan.model_dump(mode="json", exclude_defaults=True)
    return RunName(options.name, request_hash(task, where=settings.place, kind=options.kind, source=root, scan=scan))
