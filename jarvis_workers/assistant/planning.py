"""Split a task into at most four sub-tasks, run an agent for each, and complete the task with their results.

Whether to split is a request outside the session. Sub-agents may split in turn, up to `plan_max_depth` of the
definition. They share the usage and the limits of their parent: each gets an equal part of what is left, so that the
parent can always complete the task. A sub-task that fails is recorded, and the others go on.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import yaml

from jarvis_workers.agents.loop.agent import Agent
from jarvis_workers.agents.loop.effects import Conversation, Definition, Note, TaskResult
from jarvis_workers.agents.loop.limits import AgentLimits, AgentUsage
from jarvis_workers.agents.loop.loop import run_task
from jarvis_workers.agents.loop.output import shorten
from jarvis_workers.agents.loop.prompts import fill_from
from jarvis_workers.assistant.send_message import PROMPTS
from jarvis_workers.errors import AgentStopped
from jarvis_workers.models.platforms.protocol import Message
from jarvis_workers.yamlloader import WithoutAliases

MOST_SUBTASKS = 4
PLAN = re.compile(r"<PLAN>(.*?)</PLAN>", re.DOTALL)
DONT_NEED = "<DONT_NEED/>"
PLAN_MAX, SUBTASK_MAX = 32_000, 8_000
# The length of a sub-task's result in later prompts, in tokens.
RESULT_TOKENS = 2_000

# Creates a sub-agent from its definition and its limits, with the tools of its parent.
MakeChild = Callable[[Definition, AgentLimits], Agent]


@dataclass(frozen=True)
class SubTaskResult:
    """The result of a sub-task; `state` is "done", or the reason why its agent stopped."""

    subtask: str
    state: str
    text: str


def plan_and_run(agent: Agent, task: str, *, make_child: MakeChild) -> Conversation[TaskResult]:
    """Run a task like `loop.run_task`, after splitting it if the model says so. Raises AgentStopped."""
    subtasks: tuple[str, ...] = ()
    if agent.about.plan_depth < agent.about.plan_max_depth:
        subtasks = yield from _plan(agent, task)
    if not subtasks:
        return (yield from run_task(agent, task))
    results: list[SubTaskResult] = []
    for number, subtask in enumerate(subtasks):
        child = _child(agent, number, len(subtasks) - number + 1, make_child)
        results.append((yield from _run_subtask(child, task, subtask, results, make_child)))
    shown = _shown(agent, results)
    summary = yield from _ask_once(agent, fill_from(PROMPTS, "plan_summary", task=task, results=shown))
    plan = "\n".join(f"{number}. {subtask}" for number, subtask in enumerate(subtasks, 1))
    planned = fill_from(
        PROMPTS, "planned_task", task=task, plan=plan, results=shown, summary=_marked(agent, summary) if summary else ""
    )
    return (yield from run_task(agent, planned))


def read_plan(answer: str) -> tuple[str, ...]:
    """Return the sub-tasks of an answer, possibly too many; none for a task that is not split, or an unusable plan."""
    plans = PLAN.findall(answer) if len(answer) <= PLAN_MAX else []
    if len(plans) != 1 or DONT_NEED in answer:
        return ()
    try:
        items = yaml.load(plans[0], WithoutAliases)  # noqa: S506  (a SafeLoader)
    except (yaml.YAMLError, ValueError, RecursionError):
        return ()
    subtasks = [_subtask(item) for item in items] if isinstance(items, list) else []
    return tuple(subtask[:SUBTASK_MAX] for subtask in subtasks) if all(subtasks) else ()


def _subtask(item: object) -> str:
    """Return the text of a sub-task; text with a colon is a mapping in YAML."""
    if isinstance(item, dict) and len(item) == 1:
        return ": ".join(str(part) for pair in item.items() for part in pair).strip()
    return item.strip() if isinstance(item, str) else ""


def _plan(agent: Agent, task: str) -> Conversation[tuple[str, ...]]:
    """Ask whether to split the task, once more if there are too many sub-tasks; return none if it stays whole."""
    prompt = fill_from(PROMPTS, "plan", task=task, most=MOST_SUBTASKS)
    answer = yield from _ask_once(agent, prompt)
    subtasks = read_plan(answer)
    if len(subtasks) > MOST_SUBTASKS:
        again = fill_from(PROMPTS, "plan_again", count=len(subtasks), most=MOST_SUBTASKS)
        subtasks = read_plan((yield from _ask_once(agent, prompt, answer, again)))
    return subtasks if len(subtasks) <= MOST_SUBTASKS else ()


def _ask_once(agent: Agent, *messages: str) -> Conversation[str]:
    """Return the answer to a request outside the session, "" if it is truncated; prompts and answers alternate."""
    asks = tuple(Message("assistant" if number % 2 else "user", text) for number, text in enumerate(messages))
    aside = replace(agent.request(), messages=asks, tools=(), schema=None, turn=0, estimated=0)
    reply = yield from agent.ask(messages[-1], aside)
    return reply.content if reply.is_whole else ""


def _run_subtask(
    child: Agent, task: str, subtask: str, earlier: Sequence[SubTaskResult], make_child: MakeChild
) -> Conversation[SubTaskResult]:
    prompt = fill_from(PROMPTS, "subtask", task=task, subtask=subtask, results=_shown(child, earlier))
    try:
        result = yield from plan_and_run(child, prompt, make_child=make_child)
    except AgentStopped as stop:
        yield Note("sub-task stopped", {"agent": child.name, "reason": stop.reason, "says": str(stop)})
        return SubTaskResult(subtask, f"not done, {stop.reason}", str(stop))
    return SubTaskResult(subtask, "done", result.text)


def _child(parent: Agent, number: int, parts: int, make_child: MakeChild) -> Agent:
    """Return the agent of the sub-task `number`, with one of `parts` parts of what is left of its parent's limits."""
    about = replace(
        parent.about,
        name=f"{parent.name}.{number + 1}",
        auto_complete=True,
        need_summary=False,
        plan_depth=parent.about.plan_depth + 1,
    )
    child = make_child(about, share_limits(parent.limits, parent.spent, parts))
    child.spent, child.guard, child.executed = parent.spent, parent.guard, parent.executed
    return child


def share_limits(limits: AgentLimits, spent: AgentUsage, parts: int) -> AgentLimits:
    """Return limits on the shared usage `spent` that leave all but one of `parts` equal parts of the rest."""

    def part(limit: float, used: float) -> float:
        return used + max(limit - used, 0) / parts

    return replace(
        limits,
        rounds=int(part(limits.rounds, spent.asks)),
        tokens=None if limits.tokens is None else int(part(limits.tokens, spent.usage.total)),
        cost=None if limits.cost is None else part(limits.cost, spent.cost),
        seconds=part(limits.seconds, spent.seconds),
    )


def _shown(agent: Agent, results: Sequence[SubTaskResult]) -> str:
    """Return the results for a prompt; they may paraphrase untrusted text, so that their lines are marked."""
    parts = (
        f"{number}. {one.subtask}\nstate: {one.state}\n{_marked(agent, shorten(one.text, RESULT_TOKENS))}"
        for number, one in enumerate(results, 1)
    )
    return "\n\n".join(parts)


def _marked(agent: Agent, text: str) -> str:
    return agent.guard.mark_lines(iter(text.split("\n")))
