"""Count the requests of conversations instead of sending them: the agent runtime of a dry run.

Conversations run as ever, on the cached answers of a store, which stays as it is.  The first request without a cached
answer is counted, and ends its conversation as if the model were unavailable.
"""

from collections.abc import Collection
from dataclasses import replace
from typing import NamedTuple

from jarvis_workers.agents.conversations.platform_stack import PlatformStack
from jarvis_workers.agents.conversations.resources import AgentSetup
from jarvis_workers.agents.conversations.runtime import AgentRuntime
from jarvis_workers.errors import ModelUnavailable
from jarvis_workers.models.platforms.protocol import ModelRequest, Platform, Reply, estimate_request
from jarvis_workers.store import transcripts
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Claimed

NOT_ASKED = "a dry run asks no model"


class FirstRequest(NamedTuple):
    """The first request of a job: estimated tokens, whether its answer is cached, and how many times it is sent."""

    tokens: int
    is_cached: bool = False
    times: int = 1


class RequestCounts:
    """The requests that jobs would send, by stage and job."""

    def __init__(self) -> None:
        self._stages: dict[str, dict[int, FirstRequest]] = {}

    def add(self, job: Claimed, request: ModelRequest, *, is_cached: bool) -> None:
        """Count a request of a job, in place of its earlier ones, whose answers are cached."""
        self._stages.setdefault(job.stage, {})[job.id] = FirstRequest(estimate_request(request), is_cached)

    def of_stage(self, stage: str) -> list[FirstRequest]:
        """Return a request per job of a stage: the first without a cached answer, or the last."""
        return list(self._stages.get(stage, {}).values())


class ReadAnswers:
    """The answer cache of a store, read-only (`models.platforms.answer_cache.AnswerStore`)."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def find(self, key: str) -> str | None:
        with self._store.read() as session:
            return transcripts.answer(session, key)

    def put(self, key: str, text: str) -> None:
        """Do nothing."""

    def forget(self, key: str) -> None:
        """Do nothing."""


class CountingRuntime(AgentRuntime):
    """The conversations of a dry run, whose own records go to `scratch`; answers are those of the store `answers`.

    Conversations of the stages `ended` end with their first request, even if its answer is cached.
    """

    def __init__(
        self, scratch: Store, answers: Store, setup: AgentSetup, counts: RequestCounts, ended: Collection[str] = ()
    ) -> None:
        with answers.write() as session:
            secret = transcripts.secret(session)
        with scratch.write() as session:
            transcripts.put_secret(session, secret)
        super().__init__(scratch, replace(setup, recorded=ReadAnswers(answers), offline=True))
        self._counts, self._ended = counts, frozenset(ended)

    def platform_of(self, job: Claimed, stack: PlatformStack) -> Platform:
        """Return a platform that counts the requests."""
        return _CountingPlatform(stack.platform, job, self._counts, ends=job.stage in self._ended)


class _CountingPlatform:
    """Counts each request of a conversation; a request without a cached answer ends it, or with `ends` any request."""

    def __init__(self, platform: Platform, job: Claimed, counts: RequestCounts, *, ends: bool) -> None:
        self.name, self.model, self.profile = platform.name, platform.model, platform.profile
        self._platform, self._job, self._counts, self._ends = platform, job, counts, ends

    async def ask_async(self, request: ModelRequest) -> Reply:
        try:
            reply = await self._platform.ask_async(request)
        except ModelUnavailable as error:
            self._counts.add(self._job, request, is_cached=False)
            raise ModelUnavailable(NOT_ASKED) from error
        self._counts.add(self._job, request, is_cached=True)
        if self._ends:
            raise ModelUnavailable(NOT_ASKED)
        return reply
