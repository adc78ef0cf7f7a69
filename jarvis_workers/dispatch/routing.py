"""Routing: task names as Flower shows them, and one queue per kind of work."""

from collections.abc import Mapping
from dataclasses import dataclass

from jarvis_workers.pipeline.stages import PLAN, pipelines


@dataclass(frozen=True, slots=True)
class Pool:
    """How the jobs of a queue are worked off: Celery's pool, and its slots (None: one a processor).

    Each of its processes has `connections` to the store at most.
    """

    kind: str
    slots: int | None = None
    connections: int = 1


# Of an agent process, what its conversations are read from and saved with.
TALKS_CONNECTIONS = 3
POOLS: Mapping[str, Pool] = {
    "scan": Pool("prefork"),
    "agent": Pool("threads", 200, connections=6 + TALKS_CONNECTIONS),
    # One long plan or report must not hold up all others.
    "control": Pool("prefork", 2),
}


def connections(queue: str, slots: int) -> int:
    """Return how many connections to the store a pool has at most: a process a slot, or one for all."""
    pool = POOLS[queue]
    return pool.connections * (slots if pool.kind == "prefork" else 1)


def queue_key(queue: str) -> str:
    """Return what a queue is called in Redis, where others may have a "scan" too."""
    return f"jarvis.{queue}"


def task_name(kind: str, step: str) -> str:
    """Return a task's name: the family of the run's kind, and the step."""
    return f"{kind.partition('.')[0]}.{step}"


def task_names() -> tuple[str, ...]:
    """Return every task there is, from the registry of pipelines."""
    registered = pipelines()
    steps = {task_name(kind, stage.name) for kind, stages in registered.items() for stage in stages}
    return tuple(sorted(steps | {task_name(kind, PLAN) for kind in registered}))
