"""The pipelines: which stages a run has, in which order, and which step does their jobs.

Adding a stage is one file in this package and one line here.  A step is a module with
`plan`, `load` and `decide` (`Step`); one for the agent pool has `converse` instead of `decide`.
It is imported when it is needed, so that a child that scans pays for the scanner alone.
"""

import importlib
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from itertools import takewhile
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, cast

from jarvis_workers.store.values import AGENT_QUEUE

if TYPE_CHECKING:
    from sqlmodel import Session

    from jarvis_workers.snapshots.blobs import Blobs
    from jarvis_workers.steps.earlier import Earlier
    from jarvis_workers.steps.talks import Talks
    from jarvis_workers.store.runs import Run
    from jarvis_workers.store.values import Claimed, Commit, NewJob


class Stage(NamedTuple):
    """A phase of a run; `module` is the step's file in this package, or a whole dotted name.

    A stage that is `numbered` begins when every candidate has its gid; one that is `streamed` is never planned: its
    jobs are children of those of the stage before, and begin as they come.
    """

    name: str
    module: str
    queue: str
    numbered: bool = False
    streamed: bool = False


class Step(Protocol):
    """What a step's module offers. `load` reads the store, `decide` does not and may run in a child.

    A step that builds on earlier stages has `plan_on` instead of `plan`.
    `recall`, if there is one, returns a commit for which nothing need be done, or None: quick, and never in a child.
    `converse` is what the agent pool awaits, in a loop shared by all: it never blocks.
    """

    plan: Callable[["Run", "Blobs"], "Iterator[NewJob]"]
    plan_on: Callable[["Run", "Blobs", "Earlier"], "Iterator[NewJob]"]
    load: Callable[["Session", "Run", "Claimed"], Any]
    decide: Callable[[Any, "Blobs"], "Commit"]
    recall: Callable[[Any, "Blobs"], "Commit | None"]
    converse: Callable[[Any, "Blobs", "Talks"], Awaitable["Commit"]]


CONTROL_QUEUE = "control"
PLAN = "plan"
FINDING = (
    Stage("scan", module="scan_batch", queue="scan"),
    Stage("summarize", module="summarize", queue="scan"),
    Stage("flow", module="trace_flows", queue="scan"),
)
_PIPELINES: dict[str, tuple[Stage, ...]] = {
    "sec.fast": (
        *FINDING,
        Stage("report", module="write_report", queue=CONTROL_QUEUE, numbered=True),
    ),
    "sec.agent": (
        *FINDING,
        Stage("cluster", module="cluster_file", queue=AGENT_QUEUE, numbered=True),
        Stage("verify", module="verify_cluster", queue=AGENT_QUEUE, streamed=True),
        Stage("report", module="write_report", queue=CONTROL_QUEUE),
    ),
    "agent": (Stage("converse", module="converse_task", queue=AGENT_QUEUE),),
}
FLOWS: Mapping[str, tuple[Stage, ...]] = MappingProxyType(_PIPELINES)


def register_pipeline(kind: str, stages: Iterable[Stage]) -> None:
    """Add a pipeline to this process under its `kind`; raises ValueError where that has other stages already."""
    added = tuple(stages)
    if _PIPELINES.setdefault(kind, added) != added:
        raise ValueError(f'there is another pipeline "{kind}"')


def stage_of(kind: str, name: str) -> Stage:
    """Return a stage of a pipeline."""
    return next(stage for stage in FLOWS[kind] if stage.name == name)


def opened_with(kind: str, name: str) -> tuple[str, ...]:
    """Return the stages that begin when one does: itself, and those that its jobs stream into."""
    stages = FLOWS[kind]
    place = stages.index(stage_of(kind, name))
    streamed = takewhile(lambda stage: stage.streamed, stages[place + 1 :])
    return (name, *(stage.name for stage in streamed))


def has_talks(kind: str) -> bool:
    """Whether a pipeline has conversations."""
    return any(stage.queue == AGENT_QUEUE for stage in FLOWS[kind])


def step_of(module: str) -> Step:
    """Import a step."""
    return cast(Step, importlib.import_module(module if "." in module else f"jarvis_workers.steps.{module}"))
