"""The agent runtime: the state that the conversations of a process share.

Answers, their usage and the transcript lines go to the store in one transaction, before the conversation continues.
"""

import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from jarvis_workers.agents.conversations.budget import BudgetLedger
from jarvis_workers.agents.conversations.conversation import JobConversation
from jarvis_workers.agents.conversations.platform_stack import PlatformStack
from jarvis_workers.agents.conversations.resources import AgentSetup
from jarvis_workers.agents.conversations.script_sandbox import SandboxedScripts
from jarvis_workers.agents.conversations.store_adapters import StoredAnswers, StoredLog, save_items
from jarvis_workers.agents.loop.group_commit import Journal
from jarvis_workers.agents.loop.nonces import Marks, make_marks
from jarvis_workers.agents.loop.threads import in_thread
from jarvis_workers.errors import StepFailed, StoreError
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
from jarvis_workers.store.values import Claimed

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
