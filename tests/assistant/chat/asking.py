"""A step that only runs its conversation."""

from collections.abc import Awaitable, Callable

from jarvis_workers.agents.conversations.runtime import AgentRuntime
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.store.values import Commit

MODULE = __name__
Work = Callable[[AgentRuntime], Awaitable[Commit]]


async def converse(work: Work, _: Blobs, talks: AgentRuntime) -> Commit:
    return await work(talks)
