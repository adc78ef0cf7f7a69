"""Routing: the names of tasks, which Flower shows, and one queue per kind of work."""

from collections.abc import Mapping
from dataclasses import dataclass

from jarvis_workers.pipeline.stages import PLAN, kinds


@dataclass(frozen=True, slots=True)
class Pool:
    """The Celery pool that executes the jobs of a queue; `connections` limits the store connections of a process."""

    kind: str
    connections: int = 1


# The store connections of a process with conversations: those that serve the conversations, and all.
CONVERSATION_CONNECTIONS, AGENT_CONNECTIONS = 3, 9
POOLS: Mapping[str, Pool] = {
    "scan": Pool("prefork"),
    "agent": Pool("threads", AGENT_CONNECTIONS),
    # Jobs that build and test untrusted projects in the sandbox: minutes each, on all processors.
    "build": Pool("prefork"),
    "translate": Pool("threads", AGENT_CONNECTIONS),
    "control": Pool("prefork"),
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
    """Return the names of all tasks, from the registry of kinds."""
    registered = kinds()
    steps = {task_name(name, stage.name) for name, kind in registered.items() for stage in kind.stages}
    return tuple(sorted(steps | {task_name(name, PLAN) for name in registered}))
