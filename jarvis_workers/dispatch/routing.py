"""Routing: the names of tasks, which Flower shows, and one queue per kind of work."""

from collections.abc import Mapping
from dataclasses import dataclass

from jarvis_workers.pipeline.stages import PLAN, pipelines


@dataclass(frozen=True, slots=True)
class Pool:
    """The Celery pool that executes the jobs of a queue, and its number of slots (None: one per processor).

    `connections` is the maximum number of store connections per process.
    """

    kind: str
    slots: int | None = None
    connections: int = 1


# The store connections of an agent process that serve its conversations.
CONVERSATION_CONNECTIONS = 3
POOLS: Mapping[str, Pool] = {
    "scan": Pool("prefork"),
    "agent": Pool("threads", 200, connections=6 + CONVERSATION_CONNECTIONS),
    # Jobs that build and test untrusted projects in the sandbox: minutes each, on all processors.
    "build": Pool("prefork"),
    # One long plan or report must not block all others.
    "control": Pool("prefork", 2),
}


def connections(queue: str, slots: int) -> int:
    """Return the maximum number of store connections of a pool; a prefork pool has one process per slot."""
    pool = POOLS[queue]
    return pool.connections * (slots if pool.kind == "prefork" else 1)


def queue_key(queue: str) -> str:
    """Return the Redis key of a queue, with a prefix, since other applications may have a queue "scan" too."""
    return f"jarvis.{queue}"


def task_name(kind: str, step: str) -> str:
    """Return the name of a task: the domain of the run's kind, and the step."""
    return f"{kind.partition('.')[0]}.{step}"


def task_names() -> tuple[str, ...]:
    """Return the names of all tasks, from the registry of pipelines."""
    registered = pipelines()
    steps = {task_name(kind, stage.name) for kind, stages in registered.items() for stage in stages}
    return tuple(sorted(steps | {task_name(kind, PLAN) for kind in registered}))
