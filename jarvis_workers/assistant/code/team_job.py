"""The step of `team` runs: one task for a team of agents over a snapshot, in one conversation.

All agents are in one transcript, so that a team that was killed goes on where it was. A team that ends at a limit is
not a failure of its job: the run ends as incomplete, with the reason.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from jarvis_workers.agents.conversations.runtime import AgentRuntime, JobConversation, commit_answer
from jarvis_workers.agents.conversations.task_job import TaskWork, load_task, task_job
from jarvis_workers.agents.loop.agent import Agent
from jarvis_workers.agents.loop.effects import Definition
from jarvis_workers.agents.loop.output_handler import OutputHandler
from jarvis_workers.agents.tools.tool import Toolbox
from jarvis_workers.assistant.code.team_options import TeamOptions
from jarvis_workers.assistant.team import Team
from jarvis_workers.errors import StepFailed, UsageError
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.store.values import Claimed, Commit, NewJob, Run

if TYPE_CHECKING:
    from jarvis_workers.store.session import Session

STEP = "team"
# All tools but those of the user; without a sandbox, there is no execute_script.
TEAM_TOOLS = ("read_code", "search_code", "execute_script")


def plan(run: Run, _: Blobs) -> Iterator[NewJob]:
    """Yield the single job; its input is the task, the team and the sources."""
    options = TeamOptions.of(run)
    yield task_job(STEP, options.task, run.snapshot_id, options.task, options.team.model_dump_json())


def load(session: "Session", run: Run, job: Claimed) -> TaskWork[TeamOptions]:
    """Return the task and the team of the run."""
    return load_task(session, run, job, TeamOptions.of(run))


async def converse(work: TaskWork[TeamOptions], blobs: Blobs, runtime: AgentRuntime) -> Commit:
    """Let the team work; commit its answer, or the reason why there is none. Raises StepFailed for an unknown tool."""
    root = await runtime.unpack(blobs, work.snapshot_id)
    with runtime.open(work.job, work.options.group, work.about, work.lines) as talk:
        teams: list[Team] = []
        tools = [*talk.reading(root), *talk.scripts(root)]
        tools += await talk.own_tools(lambda: teams[0].main)
        box = Toolbox(tools)
        team = _assemble(work.options, talk, box)
        teams.append(team)
        hidden = [tool for tool in box.tools if tool.name not in team.main.tools.names]
        result, stopped = await talk.attempt(team.run(), team.main, {"about": work.about}, hidden)
        text, answered_by = (result.text, result.answered_by) if result else ("", None)
        hops = [{"from": hop.sender, "to": hop.receiver} for hop in team.hops]
        return commit_answer(talk, team.members, runtime.tier, text, stopped, answered_by=answered_by, hops=hops)


def _assemble(options: TeamOptions, talk: JobConversation, box: Toolbox) -> Team:
    for member in options.team.agents:
        try:
            box.only(member.use_tools or ())
        except UsageError as error:
            raise StepFailed(f"agent {member.name}: {error}") from error

    def make(about: Definition, names: Sequence[str] | None, handlers: Sequence[OutputHandler]) -> Agent:
        tools = box if names is None else box.only(names)
        profile, limits = talk.platform.profile, options.agent_limits
        return Agent(about, tools, profile=profile, marks=talk.marks, limits=limits, handlers=handlers)

    return Team(options.team, options.task, make)
