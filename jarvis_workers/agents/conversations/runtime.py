"""The agent runtime: the state that the conversations of a process share.

Answers, their usage and the transcript lines go to the store in one transaction, before the conversation continues.
"""

import json
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

from jarvis_workers.agents.conversations.budget import BudgetLedger
from jarvis_workers.agents.conversations.conversation_tools import ConversationTools
from jarvis_workers.agents.conversations.deadline import pause_deadline
from jarvis_workers.agents.conversations.observer import NOBODY, ObservedTools
from jarvis_workers.agents.conversations.platform_stack import PlatformStack
from jarvis_workers.agents.conversations.resources import AgentSetup
from jarvis_workers.agents.conversations.script_sandbox import ScriptSandboxes
from jarvis_workers.agents.conversations.store_adapters import ConversationRecords, StoredLog, resume_transcript
from jarvis_workers.agents.loop.agent import Agent
from jarvis_workers.agents.loop.drivers import AgentWorld, drive_async
from jarvis_workers.agents.loop.effects import Conversation
from jarvis_workers.agents.loop.events import AFTER_TOOL_CALL, EventBus
from jarvis_workers.agents.loop.limits import is_caused_by_answers
from jarvis_workers.agents.loop.nonces import Marks, make_marks
from jarvis_workers.agents.loop.threads import in_thread
from jarvis_workers.agents.tools.tool import Tool
from jarvis_workers.errors import AgentStopped
from jarvis_workers.models.platforms.protocol import Platform
from jarvis_workers.sandbox.launcher import Starter
from jarvis_workers.sandbox.limits import Tier
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.snapshots.checkout import unpack
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Claimed, Commit

# The conversation of a job: its platform, tools and transcript, from opening to end.

T = TypeVar("T")


class JobConversation(ConversationTools):
    """An open conversation, created by `AgentRuntime.open`; `profiles` are those of its model groups.

    `left_out` also collects callbacks that failed.
    """

    def __init__(
        self,
        log: StoredLog,
        marks: Marks,
        stack: PlatformStack,
        setup: AgentSetup,
        sandboxes: ScriptSandboxes,
        resources: ExitStack,
    ) -> None:
        super().__init__(setup, sandboxes, resources)
        self.marks, self.platform, self.profiles = marks, stack.platform, stack.profiles
        self._log, self._stack = log, stack
        # free the messages at the end of the conversation, even if the caller still refers to this object
        resources.callback(vars(self).clear)

    async def lead(
        self, talk: Conversation[T], agent: Agent, about: Mapping[str, Any], hidden: Sequence[Tool] = ()
    ) -> T:
        """Drive an agent's conversation to its end; raises AgentStopped.

        `about` identifies the conversation; a transcript with a different identity is not resumed.  The `hidden` tools
        are run by the conversation itself; the model cannot call them.
        """
        bus = EventBus(self.left_out.add)
        for listener in self._setup.listeners:
            bus.subscribe(AFTER_TOOL_CALL, listener)
        observer = self._setup.observer
        own = agent.tools.plus(*hidden)
        tools = own if observer is NOBODY else ObservedTools(own, self._stack.job, observer)
        start = {"model": self.platform.model, **about, "tools": list(agent.tools.names)}
        transcript = resume_transcript(self._log, start)
        return await drive_async(talk, AgentWorld(self.platform, tools, transcript, bus, pause_deadline=pause_deadline))

    async def attempt(
        self, talk: Conversation[T], agent: Agent, about: Mapping[str, Any], hidden: Sequence[Tool] = ()
    ) -> tuple[T | None, AgentStopped | None]:
        """Drive a conversation as `lead` does; return its result, or what stopped it.

        If unusable answers stopped it, they are removed from the cache.
        """
        try:
            return await self.lead(talk, agent, about, hidden), None
        except AgentStopped as stop:
            if is_caused_by_answers(stop.reason):
                await self.forget()
            return None, stop

    async def forget(self) -> None:
        """Remove the answers of a failed conversation from the cache; they remain in the transcript."""
        self._stack.forget()
        await self._log.sync_async()


# The answer of a run that gives agents one task: the artifact that its only job commits.

ANSWER = "answer"
TASK = b"task"


def commit_answer(
    talk: JobConversation, agents: Sequence[Agent], tier: str, text: str, stopped: AgentStopped | None, **more: Any
) -> Commit:
    """Return the commit of a conversation: its answer, or the reason why there is none, and `more` facts about it.

    The agents share their usage and guard. Values that differ between identical conversations are under `run`.
    """
    spent, guard = agents[0].spent, agents[0].guard
    outcome = {
        "state": "stopped" if stopped else "done",
        "text": text,
        "stopped": {"reason": stopped.reason, "says": str(stopped)} if stopped else None,
        "tools": dict(sum((agent.executed for agent in agents), Counter[str]())),
        "suspicions": [asdict(suspicion) for suspicion in guard.suspicions],
        "rounds": spent.asks,
        **more,
        "run": run_facts(talk, agents[0], tier),
    }
    return Commit(
        files=1,
        not_checked=((TASK, f"stopped: {stopped.reason}: {stopped}"),) if stopped else (),
        artifacts=((ANSWER, json.dumps(outcome).encode()),),
    )


def run_facts(talk: JobConversation, agent: Agent, tier: str) -> dict[str, Any]:
    """Return what differs between identical conversations."""
    spent = agent.spent
    return {
        "model": talk.platform.model,
        "sandbox": tier,
        "left_out": talk.left_out.lines,
        "tokens": asdict(spent.usage),
        "cost": spent.dollars,
        "seconds": round(spent.seconds, 3),
    }


class AgentRuntime:
    """The conversations of one process. Create it before any thread starts, since it forks a process.

    `store` must be durable: its commits survive a power failure. While it is unavailable, conversations wait.
    """

    def __init__(self, store: Store, setup: AgentSetup) -> None:
        self.store, self.setup = store, setup
        self.sandboxes = ScriptSandboxes()
        self._closing = threading.Event()
        self.budgets = BudgetLedger(store, self._closing)
        self.records = ConversationRecords(store, self._closing, self.budgets.mark_saved, setup.recorded)

    def close(self) -> None:
        """Save the pending records, unless the store is unavailable, and release all resources."""
        self._closing.set()
        self.records.close()
        self.sandboxes.close()
        self.store.close()

    @contextmanager
    def open(
        self,
        job: Claimed,
        group: str,
        about: str,
        lines: Sequence[bytes] = (),
        second: str | None = None,
        escalate: str | None = None,
    ) -> Iterator[JobConversation]:
        """Open the conversation of a job; raises StepFailed for a model group that is not configured.

        `about` is a hash of the job's input, from which the marks are derived; `lines` is the transcript so far; the
        model group `second` answers all votes but the first, the group `escalate` escalated requests.
        """
        groups = [self.setup.group(name or group) for name in (group, second, escalate)]
        records = self.records
        with ExitStack() as resources:
            allowance = resources.enter_context(self.budgets.open(job.run_id))
            stack = PlatformStack(self.setup, groups, job, allowance, records.answers, records.journal.append)
            self.setup.observer.conversation_opened(job)
            resources.callback(self.setup.observer.conversation_closed, job)
            log, marks = StoredLog(records.journal, job, lines), self.marks(about)
            talk = JobConversation(log, marks, stack, self.setup, self.sandboxes, resources)
            talk.platform = self.platform_of(job, stack)
            resources.callback(records.record_left_out, job.run_id, talk.left_out.lines)
            yield talk

    def platform_of(self, job: Claimed, stack: PlatformStack) -> Platform:
        """Return the platform that the conversation of a job asks."""
        return stack.platform

    def marks(self, about: str) -> Marks:
        """Return the marks of a conversation with this identity."""
        return make_marks(self.records.secret, about)

    async def unpack(self, blobs: Blobs, snapshot_id: str) -> Path:
        """Unpack a snapshot and return the directory of its files."""
        return await in_thread(unpack, blobs, snapshot_id, self.setup.unpacked)

    @property
    def tier(self) -> Tier:
        """The tier of the sandboxes of this process."""
        return self.sandboxes.tier

    @property
    def starter(self) -> Starter | None:
        """The starter of sandboxes, None without a sandbox."""
        return self.sandboxes.starter

    @property
    def script_slots(self) -> threading.BoundedSemaphore:
        """The slots that limit the concurrent commands of this process."""
        return self.sandboxes.slots
