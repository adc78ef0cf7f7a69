"""The agent runtime: the state that the conversations of a process share.

Answers, their usage and the transcript lines go to the store in one transaction, before the conversation continues.
"""

import json
import os
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from jarvis_workers import __version__
from jarvis_workers.agents.conversations.budget import BudgetLedger
from jarvis_workers.agents.conversations.deadline import pause_deadline
from jarvis_workers.agents.conversations.observer import NOBODY, ObservedTools
from jarvis_workers.agents.conversations.platform_stack import PlatformStack
from jarvis_workers.agents.conversations.resources import AgentSetup
from jarvis_workers.agents.conversations.script_sandbox import SandboxedScripts
from jarvis_workers.agents.conversations.store_adapters import StoredAnswers, StoredLog, save_items
from jarvis_workers.agents.conversations.web_fetch import fetch_document
from jarvis_workers.agents.loop.agent import Agent
from jarvis_workers.agents.loop.drivers import AgentWorld, drive_async
from jarvis_workers.agents.loop.effects import Conversation
from jarvis_workers.agents.loop.events import AFTER_TOOL_CALL, EventBus
from jarvis_workers.agents.loop.group_commit import Journal
from jarvis_workers.agents.loop.nonces import Marks, make_marks
from jarvis_workers.agents.loop.own_tools import OWN_TOOLS, own_tools
from jarvis_workers.agents.loop.plugins import LeftOutFiles
from jarvis_workers.agents.loop.threads import in_thread
from jarvis_workers.agents.loop.transcript import Transcript, read_line
from jarvis_workers.agents.mcp_client.servers import McpServers
from jarvis_workers.agents.tools.tool import Tool, execute_script
from jarvis_workers.agents.tools.web_search import search_web
from jarvis_workers.errors import AgentStopped, StepFailed, StoreError, UsageError
from jarvis_workers.models.platforms.answer_cache import AnswerStore
from jarvis_workers.models.platforms.groups import ModelGroup
from jarvis_workers.models.platforms.profiles import Profile
from jarvis_workers.models.platforms.protocol import Platform
from jarvis_workers.sandbox.confine import WORK
from jarvis_workers.sandbox.launcher import Starter
from jarvis_workers.sandbox.limits import SandboxLimits, Tier
from jarvis_workers.sandbox.sandbox import Sandbox, best_tier
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.snapshots.checkout import unpack
from jarvis_workers.store import events, transcripts
from jarvis_workers.store.engine import Store
from jarvis_workers.store.events import LEFT_OUT
from jarvis_workers.store.transcripts import Item
from jarvis_workers.store.values import Claimed, Commit
from jarvis_workers.telemetry import warning

# The conversation of a job: its platform, tools and transcript, from opening to end.

T = TypeVar("T")
OpenScripts = Callable[[Path], SandboxedScripts | None]


class JobConversation:
    """An open conversation, created by `AgentRuntime.open`; `profiles` are those of its model groups.

    `left_out` collects the files and servers of users that this process cannot use, and callbacks that failed.
    """

    def __init__(
        self,
        log: StoredLog,
        marks: Marks,
        stack: PlatformStack,
        setup: AgentSetup,
        open_scripts: OpenScripts,
        resources: ExitStack,
    ) -> None:
        self.marks, self.platform, self.profiles = marks, stack.platform, stack.profiles
        self._log, self._stack, self._resources = log, stack, resources
        self._setup, self._open_scripts = setup, open_scripts
        self.left_out = LeftOutFiles(setup.left_out)
        # free the messages at the end of the conversation, even if the caller still refers to this object
        resources.callback(vars(self).clear)

    def scripts(self, root: Path) -> list[Tool]:
        """Return the tool that runs scripts on the directory `root`; an empty list if there is no sandbox."""
        scripts = self._open_scripts(root)
        if scripts is None:
            return []
        self._resources.callback(scripts.close)
        return [execute_script(scripts)]

    async def server_tools(self) -> list[Tool]:
        """Start the configured MCP servers and return their tools; the servers end with the conversation."""
        configured = self._setup.configured

        def tell(says: str) -> None:
            configured.tell(says)
            self.left_out.add(says)

        running = McpServers(configured.servers, tell)
        self._resources.callback(running.close)
        return await in_thread(running.open)

    async def own_tools(self, agent: Callable[[], object]) -> list[Tool]:
        """Load the users' tools; `agent` returns the agent that calls them."""
        directories = [OWN_TOOLS, *self._setup.tools]
        return await in_thread(list, own_tools(directories, agent, self.left_out))

    def web_search(self) -> list[Tool]:
        """Return the tool that searches the web; an empty list if no endpoint is configured."""
        configured = self._setup.configured
        if configured.search_url is None:
            return []
        return [search_web(configured.search_url, partial(fetch_document, key=configured.search_key))]

    async def lead(
        self, talk: Conversation[T], agent: Agent, about: Mapping[str, Any], hidden: Sequence[Tool] = ()
    ) -> T:
        """Drive an agent's conversation to its end; raises AgentStopped.

        `about` identifies the conversation; a transcript with a different identity is not resumed.  The `hidden` tools
        are run by the conversation itself; the model cannot call them.
        """
        bus, start = EventBus(self.left_out.add), {**about, "tools": list(agent.tools.names)}
        for listener in self._setup.listeners:
            bus.subscribe(AFTER_TOOL_CALL, listener)
        observer = self._setup.observer
        own = agent.tools.plus(*hidden)
        tools = own if observer is NOBODY else ObservedTools(own, self._stack.job, observer)
        transcript = self._transcript(start)
        return await drive_async(talk, AgentWorld(self.platform, tools, transcript, bus, pause_deadline=pause_deadline))

    async def forget(self) -> None:
        """Remove the answers of a failed conversation from the cache; they remain in the transcript."""
        self._stack.forget()
        await self._log.sync_async()

    def _transcript(self, about: Mapping[str, Any]) -> Transcript:
        """Resume the transcript, or restart it after a change of version or tools.

        Raises StepFailed if a restart would repeat a tool that must not run twice.
        """
        start = {"version": __version__, "model": self.platform.model, **about}
        try:
            return Transcript(self._log, start)
        except UsageError as problem:
            if any(record and record["kind"] == "call" for record in map(read_line, self._log.lines())):
                why = "it cannot restart, because a tool has run that must not run twice"
                raise StepFailed(f"{problem}; {why}") from problem
            warning("transcript restarted", job=self._log.job_id, says=str(problem))
            self._log.keep(0)
            return Transcript(self._log, start)


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


# Concurrent scripts beyond one per core, since scripts also wait for I/O.
EXTRA_SCRIPTS = 4
# The lines about files of users that one process records, of all runs together.
RECORDED_MAX = 10_000


class AgentRuntime:
    """The conversations of one process. Create it before any thread starts, since it forks a process.

    `store` must be durable: its commits survive a power failure. While it is unavailable, conversations wait. At most
    one script per core plus EXTRA_SCRIPTS run concurrently, so that each makes progress within its time limit.
    """

    def __init__(self, store: Store, setup: AgentSetup) -> None:
        self.store, self.setup = store, setup
        self.tier = best_tier()
        self._starter = Starter() if self.tier != Tier.C else None
        self._script_slots = threading.BoundedSemaphore((os.cpu_count() or 1) + EXTRA_SCRIPTS)
        self._closing = threading.Event()
        self._recorded = set[tuple[str, str]]()
        with store.write() as session:
            self._secret = transcripts.secret(session)
        self.budgets = BudgetLedger(store, self._closing)
        self.journal: Journal[Item] = Journal(self._save)
        self._answers: AnswerStore = setup.recorded or StoredAnswers(store, self.journal, self._closing)

    def close(self) -> None:
        """Save the pending records, unless the store is unavailable, and release all resources."""
        self._closing.set()
        self.journal.close()
        if self._starter:
            self._starter.close()
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
        groups = [self._group(name or group) for name in (group, second, escalate)]
        with ExitStack() as resources:
            allowance = resources.enter_context(self.budgets.open(job.run_id))
            stack = PlatformStack(self.setup, groups, job, allowance, self._answers, self.journal.append)
            self.setup.observer.conversation_opened(job)
            resources.callback(self.setup.observer.conversation_closed, job)
            log, marks = StoredLog(self.journal, job, lines), self.marks(about)
            talk = JobConversation(log, marks, stack, self.setup, self._open_scripts, resources)
            talk.platform = self.platform_of(job, stack)
            resources.callback(self._record_left_out, job.run_id, talk.left_out.lines)
            yield talk

    def platform_of(self, job: Claimed, stack: PlatformStack) -> Platform:
        """Return the platform that the conversation of a job asks."""
        return stack.platform

    def marks(self, about: str) -> Marks:
        """Return the marks of a conversation with this identity."""
        return make_marks(self._secret, about)

    def profile(self, group: str) -> Profile:
        """Return the profile of a group's model, the default one if the group is not configured here."""
        model_group = self.setup.groups.get(group)
        return model_group.quirks if model_group else Profile()

    async def unpack(self, blobs: Blobs, snapshot_id: str) -> Path:
        """Unpack a snapshot and return the directory of its files."""
        return await in_thread(unpack, blobs, snapshot_id, self.setup.unpacked)

    def open_workspace(self, place: Path, limits: SandboxLimits) -> SandboxedScripts | None:
        """Return a runner of scripts in `place`/WORK, which they may change; None without a sandbox. Close it."""
        if self.tier == Tier.C:
            return None
        root = str((place / WORK).resolve())
        return SandboxedScripts(
            lambda: Sandbox(root, self.tier, self._starter, workspace=place), self._script_slots, limits
        )

    @property
    def starter(self) -> Starter | None:
        """The starter of sandboxes, None without a sandbox."""
        return self._starter

    @property
    def script_slots(self) -> threading.BoundedSemaphore:
        """The slots that limit the concurrent commands of this process."""
        return self._script_slots

    def _record_left_out(self, run_id: str, lines: Sequence[str]) -> None:
        """Record in the history of a run which files of users this process could not use."""
        news = [line for line in lines if (run_id, line) not in self._recorded]
        if not news or len(self._recorded) > RECORDED_MAX:
            return
        with suppress(StoreError), self.store.write() as session:
            events.record(session, run_id, LEFT_OUT, lines=news)
        self._recorded.update((run_id, line) for line in news)

    def _group(self, group: str) -> ModelGroup:
        model_group = self.setup.groups.get(group)
        if model_group is None:
            available = ", ".join(self.setup.groups) or "none"
            raise StepFailed(
                f'this machine has no model group "{group}"; available: {available}; see models in jarvis.yaml'
            )
        return model_group

    def _open_scripts(self, root: Path) -> SandboxedScripts | None:
        if self.tier == Tier.C:
            return None
        return SandboxedScripts(lambda: Sandbox(str(root.resolve()), self.tier, self._starter), self._script_slots)

    def _save(self, items: list[Item]) -> None:
        self.budgets.mark_saved(save_items(self.store, items, self._closing))
