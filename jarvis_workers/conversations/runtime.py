"""The agent runtime: what the conversations of a process share, and what each uses: a model, tools and a transcript.

Answers, their usage and the transcript lines go to the store in one transaction, before the conversation continues.
"""

import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from jarvis_workers import __version__
from jarvis_workers.agent.drivers import AgentWorld, drive_async
from jarvis_workers.agent.effects import Conversation
from jarvis_workers.agent.events import AFTER_TOOL_CALL, EventBus, Listener
from jarvis_workers.agent.group_commit import Journal
from jarvis_workers.agent.loop import Agent
from jarvis_workers.agent.nonces import Marks, make_marks
from jarvis_workers.agent.threads import in_thread
from jarvis_workers.agent.transcript import Transcript, read_line
from jarvis_workers.conversations.budget import BudgetedPlatform, BudgetLedger
from jarvis_workers.errors import (
    ModelUnavailable,
    SandboxError,
    StepFailed,
    StoreError,
    StoreFull,
    StoreUnavailable,
    UsageError,
)
from jarvis_workers.paths import plain
from jarvis_workers.pipeline.store_retry import patiently
from jarvis_workers.platforms.answer_cache import AnswerStore, Remembering
from jarvis_workers.platforms.groups import ModelGroup
from jarvis_workers.platforms.profiles import Profile
from jarvis_workers.platforms.protocol import Hear, ModelRequest, Platform, Reply
from jarvis_workers.platforms.registry import Providers
from jarvis_workers.sandbox.launcher import Starter
from jarvis_workers.sandbox.limits import Tier
from jarvis_workers.sandbox.sandbox import Sandbox, best_tier
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.snapshots.checkout import unpack
from jarvis_workers.store import transcripts
from jarvis_workers.store.engine import Store
from jarvis_workers.store.transcripts import Forgotten, Item, ModelCall, StoredAnswer, TranscriptLine
from jarvis_workers.store.values import Claimed
from jarvis_workers.telemetry import warning
from jarvis_workers.tools.scripting import execute_script
from jarvis_workers.tools.tool import Tool, ToolOutcome

OWN_TOOLS = Path("~/.jarvis/tools")
LONGEST_NAME = 200
INTERPRETERS: Mapping[str, Sequence[str]] = {"bash": ("bash", "-s"), "sh": ("sh", "-s"), "python3": ("python3", "-")}

T = TypeVar("T")


@dataclass(frozen=True)
class AgentSetup:
    """What conversations may use here.

    `groups` are the models by name; `unpacked` is where sources are unpacked; `recorded` is a place for answers
    instead of the store, and `offline` says that no other answers may be used; `listeners` are told of every tool.
    """

    providers: Providers
    groups: Mapping[str, ModelGroup]
    unpacked: Path
    recorded: AnswerStore | None = None
    offline: bool = False
    listeners: tuple[Listener, ...] = ()


class AgentRuntime:
    """The conversations of one process. It is made before any thread is, since it starts a process of its own.

    `store` is one that keeps what it has taken even where the power fails. While it is away, all wait. Of scripts only
    a few run at once: each has a time limit of its own, in which it should get somewhere.
    """

    def __init__(self, store: Store, means: AgentSetup) -> None:
        self.store, self.means = store, means
        self.tier = best_tier()
        self._starter = Starter() if self.tier != Tier.C else None
        self.turns = threading.BoundedSemaphore((os.cpu_count() or 1) + 4)
        self.closing = threading.Event()
        with store.write() as session:
            self._secret = transcripts.secret(session)
        self.purses = BudgetLedger(store, self.closing)
        self.journal: Journal[Item] = Journal(self._save)

    def close(self) -> None:
        """Save what is left, unless the store is away, and end what was started."""
        self.closing.set()
        self.journal.close()
        if self._starter:
            self._starter.close()
        self.store.close()

    @contextmanager
    def open(
        self, job: Claimed, group: str, about: str, lines: Sequence[bytes] = (), second: str | None = None
    ) -> Iterator["JobConversation"]:
        """Open the conversation of a job about something, such as its input's hash; `lines` are what it was told.

        The `second` group is asked for all votes but the first.
        """
        groups = (self._group(group), self._group(second or group))
        with ExitStack() as stack:
            purse = stack.enter_context(self.purses.open(job.run_id))
            first, other = (BudgetedPlatform(self.means.providers.open(one), job, purse, one.prices) for one in groups)
            platforms = (first, other)
            yield JobConversation(self, job, platforms, make_marks(self._secret, about), list(lines), stack)

    def _group(self, group: str) -> ModelGroup:
        chosen = self.means.groups.get(group)
        if chosen is None:
            known = ", ".join(self.means.groups) or "none"
            raise StepFailed(f'there is no model group "{group}" here; there are: {known}; see models in jarvis.yaml')
        return chosen

    def profile(self, group: str) -> Profile:
        """Return how the model of a group is spoken to, as far as it is known here."""
        chosen = self.means.groups.get(group)
        return chosen.quirks if chosen else Profile()

    async def unpack(self, blobs: Blobs, snapshot_id: str) -> Path:
        """Return the directory of a snapshot's files."""
        return await in_thread(unpack, blobs, snapshot_id, self.means.unpacked)

    def answers(self) -> AnswerStore:
        """Return where answers are kept."""
        return self.means.recorded or _StoredAnswers(self)

    def sandbox(self, root: Path) -> Sandbox:
        """Return a new place for scripts over a directory."""
        return Sandbox(str(root.resolve()), self.tier, self._starter)

    def _save(self, items: list[Item]) -> None:
        try:
            patiently(lambda: self._keep(items), self.closing)
        except (StoreFull, StoreUnavailable):
            raise
        except StoreError:
            # A run that was removed takes nobody else's lines with it.
            with self.store.write() as session:
                items = transcripts.of_jobs_that_are_there(session, items)
                transcripts.keep(session, items)
        self.purses.saved(items)

    def _keep(self, items: list[Item]) -> None:
        with self.store.write() as session:
            transcripts.keep(session, items)


class JobConversation:
    """One conversation."""

    def __init__(
        self,
        shared: AgentRuntime,
        job: Claimed,
        platforms: tuple[Platform, Platform],
        marks: Marks,
        lines: list[bytes],
        stack: ExitStack,
    ) -> None:
        self._shared, self._job, self.marks = shared, job, marks
        # its parts know each other: what is over would wait for the collector, with all that was said
        stack.callback(vars(self).clear)
        self._log = _StoredLog(shared.journal, job, lines)
        self._stack = stack
        kept, offline = shared.answers(), shared.means.offline
        self._remembering = [Remembering(one, kept, offline=offline) for one in platforms]
        first, second = (_Counted(one, self._note) for one in self._remembering)
        self.platform: Platform = _Voting(first, second)
        self.profiles = (first.profile, second.profile)

    def scripts(self, root: Path) -> list[Tool]:
        """Return the tool that runs scripts over a directory; none where nothing can confine them."""
        if self._shared.tier == Tier.C:
            return []
        scripts = _Scripts(lambda: self._shared.sandbox(root), self._shared.turns)
        self._stack.callback(scripts.close)
        return [execute_script(scripts)]

    async def lead(self, talk: Conversation[T], agent: Agent, about: Mapping[str, Any]) -> T:
        """Lead what an agent does to its end; raises AgentStopped."""
        bus, start = EventBus(), {**about, "tools": list(agent.tools.names)}
        for listener in self._shared.means.listeners:
            bus.subscribe(AFTER_TOOL_CALL, listener)
        return await drive_async(talk, AgentWorld(self.platform, agent.tools, self._transcript(start), bus))

    async def forget(self) -> None:
        """Let no other conversation have these answers, since nothing came of them; what was said stays recorded.

        Answers that the user keeps in a place of its own stay there.
        """
        if self._shared.means.recorded is None:
            for key in set[str]().union(*(one.keys for one in self._remembering)):
                self._shared.journal.append(Forgotten(key))
            await self._log.sync_async()

    def _transcript(self, about: Mapping[str, Any]) -> Transcript:
        """Take up what was recorded; of another program or with other tools it is begun again, if that does no harm."""
        start = {"version": __version__, "model": self.platform.model, **about}
        try:
            return Transcript(self._log, start)
        except UsageError as problem:
            if any(record and record["kind"] == "call" for record in map(read_line, self._log.lines())):
                why = "it cannot restart, because a tool has run that must not run twice"
                raise StepFailed(f"{problem}; {why}") from problem
            warning("transcript restarted", job=self._job.id, says=str(problem))
            self._log.keep(0)
            return Transcript(self._log, start)

    def _note(self, reply: Reply, estimated: int) -> None:
        used = reply.usage
        self._shared.journal.append(
            ModelCall(
                run_id=self._job.run_id,
                job_id=self._job.id,
                model=plain(reply.model[:LONGEST_NAME]),
                prompt=used.prompt,
                cached=used.cached,
                completion=used.completion,
                cost=reply.cost,
                seconds=reply.seconds,
                tries=reply.tries,
                estimated=estimated,
            )
        )


class _Counted:
    """A platform whose answers are counted."""

    def __init__(self, platform: Platform, note: Callable[[Reply, int], None]) -> None:
        self.name, self.model, self.profile = platform.name, platform.model, platform.profile
        self._platform, self._note = platform, note

    def ask(self, request: ModelRequest, hear: Hear | None = None) -> Reply:
        raise ModelUnavailable("a job's conversation can only be used in its event loop")

    async def ask_async(self, request: ModelRequest) -> Reply:
        reply = await self._platform.ask_async(request)
        self._note(reply, request.estimated)
        return reply


class _Voting:
    """The platform of the first vote, and of everything else; the other votes are those of the second."""

    def __init__(self, first: Platform, second: Platform) -> None:
        self.name, self.model, self.profile = first.name, first.model, first.profile
        self._platforms = (first, second)

    def ask(self, request: ModelRequest, hear: Hear | None = None) -> Reply:
        return self._platforms[request.vote > 0].ask(request, hear)

    async def ask_async(self, request: ModelRequest) -> Reply:
        return await self._platforms[request.vote > 0].ask_async(request)


class _StoredAnswers:
    """Answers in the store; what is kept is saved with what comes after it."""

    def __init__(self, shared: AgentRuntime) -> None:
        self._shared = shared

    def find(self, key: str) -> str | None:
        return patiently(lambda: self._find(key), self._shared.closing)

    def _find(self, key: str) -> str | None:
        with self._shared.store.read() as session:
            return transcripts.answer(session, key)

    def keep(self, key: str, text: str) -> None:
        self._shared.journal.append(StoredAnswer(key, text))


class _StoredLog:
    """The lines of one conversation, in the store; here are only those that it was taken up with."""

    def __init__(self, journal: Journal[Item], job: Claimed, lines: list[bytes]) -> None:
        self._journal, self._job, self._lines = journal, job, lines
        self._count = len(lines)

    def lines(self) -> list[bytes]:
        return list(self._lines)

    def append(self, line: bytes) -> None:
        self._journal.append(TranscriptLine(self._job.id, self._job.fence, self._count, line))
        self._count += 1

    def sync(self) -> None:
        self._journal.wait().result()

    async def sync_async(self) -> None:
        await self._journal.wait_in_loop()

    def keep(self, count: int) -> None:
        del self._lines[count:]
        self._count = count


class _Scripts:
    """Where the scripts of a conversation run: made for the first of them, and gone with the conversation."""

    def __init__(self, make: Callable[[], Sandbox], turns: threading.BoundedSemaphore) -> None:
        self._make, self._turns = make, turns
        self._lock = threading.Lock()
        self._place: Sandbox | None = None
        self._is_over = False

    def __call__(self, interpreter: str, script: str) -> ToolOutcome:
        """A script that could not be run is an outcome like others: the agent may do without."""
        with self._turns:
            try:
                return _outcome(self._open(), interpreter, script)
            except SandboxError as error:
                return ToolOutcome("error", stderr=str(error))

    def close(self) -> None:
        with self._lock:
            self._is_over = True
            if self._place:
                self._place.close()

    def _open(self) -> Sandbox:
        """Make none behind the back of a conversation that was called off: nobody would close it."""
        with self._lock:
            if self._is_over:
                raise SandboxError("the conversation has ended")
            self._place = self._place or self._make()
            return self._place


def _outcome(place: Sandbox, interpreter: str, script: str) -> ToolOutcome:
    ended = place.run(INTERPRETERS[interpreter], stdin=script.encode("utf-8", "replace"))
    out, wrong = (written.decode("utf-8", "backslashreplace") for written in (ended.stdout, ended.stderr))
    if ended.reason:
        wrong = f"{wrong.rstrip()}\nended: {ended.reason}".lstrip("\n")
    return ToolOutcome("done" if ended.code == 0 and not ended.reason else "failed", out, wrong, ended.code)
