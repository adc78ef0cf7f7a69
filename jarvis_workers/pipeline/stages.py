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

    from jarvis_workers.conversations.runtime import Talks
    from jarvis_workers.pipeline.history import Earlier
    from jarvis_workers.snapshots.blobs import Blobs
    from jarvis_workers.store.runs import Run
    from jarvis_workers.store.values import Claimed, Commit, NewJob


class Stage(NamedTuple):
    """A phase of a run; `module` is the step's file below `jarvis_workers.steps`, or a whole dotted name.

    `on_open` names a function, "package.module:function", that is called with the session and the run in the
    transaction that opens the stage, before its plan job is inserted.  A stage that is `streamed` is never planned:
    its jobs are children of those of the stage before, and begin as they come.
    """

    name: str
    module: str
    queue: str
    on_open: str | None = None
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
# The packages below `jarvis_workers.steps`.
DOMAINS = frozenset({"sec", "agent"})
NUMBER_CANDIDATES = "jarvis_workers.steps.sec.candidates:number_candidates"
FINDING = (
    Stage("scan", module="sec.scan_batch", queue="scan"),
    Stage("summarize", module="sec.summarize", queue="scan"),
    Stage("flow", module="sec.trace_flows", queue="scan"),
)
_PIPELINES: dict[str, tuple[Stage, ...]] = {
    "sec.fast": (
        *FINDING,
        Stage("report", module="sec.write_report", queue=CONTROL_QUEUE, on_open=NUMBER_CANDIDATES),
    ),
    "sec.agent": (
        *FINDING,
        Stage("cluster", module="sec.cluster_file", queue=AGENT_QUEUE, on_open=NUMBER_CANDIDATES),
        Stage("verify", module="sec.verify_cluster", queue=AGENT_QUEUE, streamed=True),
        Stage("report", module="sec.write_report", queue=CONTROL_QUEUE),
    ),
    "agent": (Stage("converse", module="agent.converse", queue=AGENT_QUEUE),),
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
    top = module.partition(".")[0]
    return cast(Step, importlib.import_module(f"jarvis_workers.steps.{module}" if top in DOMAINS else module))


def hook_of(name: str) -> Callable[["Session", "Run"], None]:
    """Import the function that "package.module:function" names."""
    module, _, function = name.partition(":")
    return cast(Callable[["Session", "Run"], None], getattr(importlib.import_module(module), function))
