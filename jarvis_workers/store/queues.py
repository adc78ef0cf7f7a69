"""The table of queues, and the kind of work on each. Like `values`, this module imports no database library."""

from collections.abc import Mapping
from typing import NamedTuple


class Queue(NamedTuple):
    """A queue of jobs, served by one kind of pool.

    Jobs of a queue with `has_conversations` are conversations with models: many run concurrently in an event loop, each
    with a transcript, and their weight is their importance. The weight of other jobs is the number of source bytes that
    they process.
    """

    name: str
    has_conversations: bool = False


QUEUES: Mapping[str, Queue] = {
    queue.name: queue
    for queue in (
        Queue("scan"),
        Queue("agent", has_conversations=True),
        Queue("build"),
        Queue("control"),
    )
}
CONVERSATION_QUEUES = tuple(queue.name for queue in QUEUES.values() if queue.has_conversations)


def has_conversations(name: str) -> bool:
    """Return whether the jobs of a queue are conversations."""
    return name in CONVERSATION_QUEUES
