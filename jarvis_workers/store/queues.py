"""The table of queues: which sort of work each has. Light, as `values` is: no database library."""

from collections.abc import Mapping
from typing import NamedTuple

__all__ = ["CONVERSATION_QUEUES", "QUEUES", "Queue", "has_conversations"]


class Queue(NamedTuple):
    """A queue of jobs that pools of one sort work off.

    Jobs of one that `has_conversations` talk to models: many at once in an event loop, each with a transcript and a
    weight that says how much it matters.  The weight of other jobs is the bytes of source that they go through.
    """

    name: str
    has_conversations: bool = False


QUEUES: Mapping[str, Queue] = {
    queue.name: queue
    for queue in (
        Queue("scan"),
        Queue("agent", has_conversations=True),
        Queue("control"),
    )
}
CONVERSATION_QUEUES = tuple(queue.name for queue in QUEUES.values() if queue.has_conversations)


def has_conversations(name: str) -> bool:
    """Whether the jobs of a queue are conversations."""
    return name in CONVERSATION_QUEUES
