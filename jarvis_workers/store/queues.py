"""The table of queues, and the kind of work on each. Like `values`, this module imports no database library."""

from collections.abc import Mapping
from typing import NamedTuple


class Queue(NamedTuple):
    """A queue of jobs, served by one kind of pool.

    Jobs of a queue with `has_conversations` are conversations with models: many run concurrently in an event loop, each
    with a transcript, and their weight is their importance. The weight of other jobs is the number of source bytes that
    they process. `slots` is the number of jobs that one process or pool runs concurrently; None: `slots_per_processor`
    decides.
    """

    name: str
    has_conversations: bool = False
    slots: int | None = None
    slots_per_processor: int = 1

    def slot_count(self, processors: int) -> int:
        """Return the number of jobs that run concurrently with this number of processors."""
        return self.slots or self.slots_per_processor * processors


QUEUES: Mapping[str, Queue] = {
    queue.name: queue
    for queue in (
        Queue("scan"),
        Queue("agent", has_conversations=True, slots=200),
        Queue("build"),
        # Conversations whose answers are built and tested: most of the time, they wait for a model.
        Queue("translate", has_conversations=True, slots_per_processor=16),
        # One long plan or report must not block all others.
        Queue("control", slots=2),
    )
}
CONVERSATION_QUEUES = tuple(queue.name for queue in QUEUES.values() if queue.has_conversations)


def has_conversations(name: str) -> bool:
    """Return whether the jobs of a queue are conversations."""
    return name in CONVERSATION_QUEUES
