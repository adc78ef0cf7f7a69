"""A team of agents: route the messages that they send each other until one of them answers in prose.

Agents are created when they are first addressed. They share the limits of the conversation, except that the number of
model calls grows with the team. Hand-offs are bounded by `max_hops`, and the same message by `max_repeats`.

A summary of the sender's work may paraphrase untrusted text and is marked as such. The content of a message is not
marked, since it asks for something, but lines that look like injected instructions are masked.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from jarvis_workers.agents.loop import events
from jarvis_workers.agents.loop.agent import Agent, ask_aside
from jarvis_workers.agents.loop.effects import Conversation, Definition, Note, TaskResult
from jarvis_workers.agents.loop.limits import Reason
from jarvis_workers.agents.loop.loop import run_task
from jarvis_workers.agents.loop.output_handler import OutputHandler
from jarvis_workers.agents.loop.prompts import fill, fill_from
from jarvis_workers.assistant.send_message import PROMPTS, MessageHandler, TeamMessage
from jarvis_workers.assistant.team_definition import TeamDefinition
from jarvis_workers.errors import AgentStopped

# Creates an agent from its definition, the names of its tools (None for all), and its output handlers.
MakeAgent = Callable[[Definition, Sequence[str] | None, Sequence[OutputHandler]], Agent]


@dataclass(frozen=True, slots=True)
class Hop:
    """A message that was sent."""

    sender: str
    receiver: str


@dataclass(frozen=True)
class TeamResult:
    """The final answer of a team, and the agent that gave it."""

    text: str
    answered_by: str
    result: TaskResult


class Team:
    """The agents of a team that works on one task; `hops` are the messages so far, `main` gets the task."""

    def __init__(self, definition: TeamDefinition, task: str, make: MakeAgent) -> None:
        self._definition, self._task, self._make = definition, task, make
        self._members: dict[str, Agent] = {}
        self._sent: Counter[tuple[str, TeamMessage]] = Counter()
        self.hops: list[Hop] = []
        self.main = self._create(definition.main_agent_name)

    @property
    def members(self) -> Sequence[Agent]:
        """The agents that were addressed, in this order."""
        return tuple(self._members.values())

    def run(self) -> Conversation[TeamResult]:
        """Work on the task until an agent answers without a message. Raises AgentStopped, which names the agent."""
        agent, prompt = self.main, self._task
        while True:
            try:
                result = yield from run_task(agent, prompt)
            except AgentStopped as stop:
                raise AgentStopped(stop.reason, f"{agent.name}: {stop}") from stop
            if result.ending != "handled":
                return TeamResult(result.text, agent.name, result)
            message = result.report
            if not isinstance(message, TeamMessage):
                says = f"{agent.name} returned neither text nor a message"
                yield Note("team ended", {"says": says, "answer": str(message)})
                raise AgentStopped(Reason.INCONCLUSIVE, says)
            self._count(agent, message)
            prompt = yield from self._hand_off(agent, message)
            agent = self._members.get(message.to) or self._create(message.to)

    def _count(self, sender: Agent, message: TeamMessage) -> None:
        """Record a message; raises AgentStopped if the agents send too many, or the same again and again."""
        most, repeats = self._definition.max_hops, self._definition.max_repeats
        if len(self.hops) >= most:
            raise AgentStopped(Reason.HOPS, f"no final answer after {most} messages between agents")
        self._sent[sender.name, message] += 1
        if self._sent[sender.name, message] > repeats:
            raise AgentStopped(Reason.REPEATED, f"{sender.name} sent {message.to} the same message {repeats + 1} times")
        self.hops.append(Hop(sender.name, message.to))

    def _hand_off(self, sender: Agent, message: TeamMessage) -> Conversation[str]:
        """Return the input of the receiver of a message; clear the history of the sender if its definition says so."""
        about = self._definition.find(sender.name)
        summary = (yield from _summarize(sender, message.to)) if about.summary_on_send else ""
        if about.clear_after_send_message:
            yield from sender.announce(events.BEFORE_HISTORY_CLEAR)
            sender.session.restart()
            yield sender.tell(events.AFTER_HISTORY_CLEAR)
        is_main = message.to == self._definition.main_agent_name
        forgot = is_main and self._definition.find(message.to).clear_after_send_message
        return fill_from(
            PROMPTS,
            "handoff",
            sender=sender.name,
            summary=sender.guard.mark_lines(iter(summary.split("\n"))) if summary else "",
            content=sender.guard.screen(message.content),
            question=self._task if forgot else "",
        )

    def _create(self, name: str) -> Agent:
        about, is_main = self._definition.find(name), name == self._definition.main_agent_name
        prompt = fill_from(
            PROMPTS,
            "member",
            common=self._definition.common_system_prompt,
            own=about.system_prompt or fill("task", agent=name),
            question="" if is_main else self._task,
        )
        definition = Definition(prompt, name, about.description, auto_complete=about.auto_complete and is_main)
        others = {other.name: other.description for other in self._definition.agents if other.name != name}
        agent = self._make(definition, about.use_tools, [MessageHandler(others)])
        agent.limits = replace(agent.limits, rounds=agent.limits.rounds * len(self._definition.agents))
        if self._members:
            agent.spent, agent.guard = self.main.spent, self.main.guard
        self._members[name] = agent
        return agent


def _summarize(sender: Agent, receiver: str) -> Conversation[str]:
    """Return the sender's summary of its work by a direct request; empty if that fails."""
    try:
        return (yield from ask_aside(sender, fill_from(PROMPTS, "handoff_summary", receiver=receiver)))
    except AgentStopped as stop:
        yield Note("no hand-off summary", {"agent": sender.name, "says": str(stop)})
        return ""
