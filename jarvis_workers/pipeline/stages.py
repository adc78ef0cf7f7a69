"""The registry of the kinds of runs: for each, the stages in order, the steps that execute their jobs, and the modules
that know its result.

A domain registers its kinds in a module of DOMAINS.  Other packages provide kinds as entry points of the group
`jarvis_workers.pipelines`: the name of an entry point is the kind, its value a `RunKind` or only the stages.  Every
process of a worker loads them from there.  The modules of domains are imported until one has the kind, and steps at
their first use, so that a child that scans imports only the scanner.  A step is a module with `plan`, `load` and
`decide` (`Step`); a step for the agent pool has `converse` instead of `decide`.
"""

import importlib
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator
from itertools import takewhile
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, cast

from jarvis_workers.errors import UsageError
from jarvis_workers.pipeline.run_state import NOT_CHECKED, GapWords
from jarvis_workers.store.queues import QUEUES, has_conversations

if TYPE_CHECKING:
    from jarvis_workers.agents.conversations.runtime import AgentRuntime
    from jarvis_workers.pipeline.history import StageHistory
    from jarvis_workers.snapshots.blobs import Blobs
    from jarvis_workers.snapshots.resources import Resources
    from jarvis_workers.store.session import Session
    from jarvis_workers.store.values import Claimed, Commit, NewJob, Run


class Stage(NamedTuple):
    """A phase of a run; `module` is the dotted name of the step's module.

    `on_open` names a function, "package.module:function", that is called with the session and the run in the
    transaction that opens the stage, before its plan job is inserted.  A `streamed` stage is never planned: its jobs
    are children of the jobs of the preceding stage, and start as soon as they are inserted.

    `units` is the name of its jobs in progress displays, `missing` the phrase (singular and plural) for unchecked items
    in the final state of a run.  A run whose last stage fails ends in the state `state_if_failed`: "failed", or
    "incomplete" if the results of earlier stages are still useful.  Users may leave out an `optional` stage, and
    a stage with `options` is only in runs that set one of these fields of their options; later stages must work without
    it.  `warm_up` names a function without arguments that a long-lived worker process of the queue calls once, before
    its first job and before it forks; modules loaded then are not affected by later updates.
    """

    name: str
    module: str
    queue: str
    on_open: str | None = None
    streamed: bool = False
    units: str = "jobs"
    missing: GapWords = NOT_CHECKED
    state_if_failed: str = "failed"
    optional: bool = False
    options: tuple[str, ...] = ()
    warm_up: str | None = None


class RunKind(NamedTuple):
    """A kind of run: its stages, and the modules that know its result, each imported at its first use.

    Only kinds that have findings have a gate, a comparison of findings and a trend.  `output` is a module with what
    commands do with the result (`jarvis_cli.kit.run_results.RunOutput`), `result` one that renders it for commands and
    the page (`runs.run_kinds.RunResult`), and `compare` one with a function `compare` for two runs that are not
    compared by their findings; kinds without them have only a state.  `sandboxes` and `totals` name functions,
    "package.module:function": the first returns the tiers in which commands of a run were confined, given the session
    and the id of the run, the second the numbers of the notification of its end, given store, blobs and run.
    """

    name: str
    stages: tuple[Stage, ...]
    has_findings: bool = False
    output: str | None = None
    result: str | None = None
    compare: str | None = None
    sandboxes: str | None = None
    totals: str | None = None


class Step(Protocol):
    """The interface of a step's module. `load` reads the store; `decide` does not, and may run in a child.

    A step that depends on the results of earlier stages has `plan_on` instead of `plan`.
    The optional `read_work` restores the value of `load` from the JSON that a child receives.
    The optional `recall` returns a cached commit or None; it must be fast, and never runs in a child.
    `converse` is awaited by the agent pool in an event loop shared by all conversations, so it must not block.
    """

    plan: Callable[["Run", "Blobs"], "Iterator[NewJob]"]
    plan_on: Callable[["Run", "Blobs", "StageHistory"], "Iterator[NewJob]"]
    load: Callable[["Session", "Run", "Claimed"], Any]
    read_work: Callable[[Any], Any]
    decide: Callable[[Any, "Resources"], "Commit"]
    recall: Callable[[Any, "Resources"], "Commit | None"]
    converse: Callable[[Any, "Blobs", "AgentRuntime"], Awaitable["Commit"]]


CONTROL_QUEUE = "control"
PLAN = "plan"
# The modules that register the kinds of the domains, that of scans first, since it must start quickly.
DOMAINS = (
    "jarvis_workers.sec.stages.pipelines",
    "jarvis_workers.assistant.task.pipelines",
    "jarvis_workers.assistant.code.pipelines",
    "jarvis_workers.c2rust.stages.pipelines",
)
GROUP = "jarvis_workers.pipelines"
# What kinds with findings have that name no functions of their own.
TOTALS_OF_FINDINGS = "jarvis_workers.sec.run_reports.totals:notified_totals"
SANDBOXES_OF_FINDINGS = "jarvis_workers.sec.store.verdicts:sandboxes"
_KINDS: dict[str, RunKind] = {}


def register_kind(kind: RunKind) -> None:
    """Register a kind of run in this process.

    Raises ValueError if another row is registered under its name, or if the queue of a stage is not in
    `store.queues`, since no worker would serve that queue.
    """
    if unknown := [stage for stage in kind.stages if stage.queue not in QUEUES]:
        raise ValueError(f'kind "{kind.name}": no queue "{unknown[0].queue}" (stage {unknown[0].name})')
    if _KINDS.setdefault(kind.name, kind) != kind:
        raise ValueError(f'two kinds are registered as "{kind.name}"')


def find_kind(name: str) -> RunKind | None:
    """Return a kind of run, None if no installed package provides it."""
    for module in DOMAINS:
        if name in _KINDS:
            break
        importlib.import_module(module)
    if name not in _KINDS:
        _load_entry_points(name=name)
    return _KINDS.get(name)


def kind_of(name: str) -> RunKind:
    """Return a kind of run. Raises UsageError if no installed package provides it."""
    kind = find_kind(name)
    if kind is None:
        raise UsageError(
            f'no pipeline for runs of kind "{name}": install the package that provides it on this machine as well'
        )
    return kind


def stages_of(kind: str) -> tuple[Stage, ...]:
    """Return the stages of a kind of run, in order. Raises UsageError if no installed package provides the kind."""
    return kind_of(kind).stages


def stages_without(kind: str, left_out: Collection[str]) -> tuple[Stage, ...]:
    """Return the stages of a kind without those in `left_out`; raises UsageError for an unknown or mandatory stage."""
    optional = sorted(stage.name for stage in stages_of(kind) if stage.optional)
    if wrong := sorted(set(left_out).difference(optional)):
        choice = f"choose among: {', '.join(optional)}" if optional else "it has no optional stages"
        raise UsageError(f'a run of kind "{kind}" cannot leave out the stage "{wrong[0]}": {choice}')
    return tuple(stage for stage in stages_of(kind) if stage.name not in left_out)


def chosen_stages(stages: Iterable[Stage], options: object) -> list[Stage]:
    """Return the stages that are in a run with these options."""
    return [one for one in stages if not one.options or any(getattr(options, name, None) for name in one.options)]


def has_pipeline(kind: str) -> bool:
    """Return whether the pipeline of a kind is installed here."""
    return find_kind(kind) is not None


def kinds() -> dict[str, RunKind]:
    """Return every kind by its name, including those of other packages."""
    for module in DOMAINS:
        importlib.import_module(module)
    _load_entry_points()
    return dict(sorted(_KINDS.items()))


def _load_entry_points(**name: str) -> None:
    metadata = importlib.import_module("importlib.metadata")  # slow: imported only for kinds of other packages
    for entry in metadata.entry_points(group=GROUP, **name):
        provided = entry.load()
        register_kind(provided if isinstance(provided, RunKind) else RunKind(entry.name, tuple(provided)))


def stage_of(kind: str, name: str) -> Stage:
    """Return the stage `name` of a pipeline. Raises UsageError if there is none, as for a run of another version."""
    found = next((stage for stage in stages_of(kind) if stage.name == name), None)
    if found is None:
        raise UsageError(f'runs of kind "{kind}" have no stage "{name}" in this version')
    return found


def missing_stage(kind: str, names: Iterable[str]) -> str | None:
    """Return the first stage of a run of another version that the pipeline does not have here, None if it has all."""
    here = {stage.name for stage in stages_of(kind)}
    return next((name for name in names if name not in here), None)


def opened_with(kind: str, name: str) -> tuple[str, ...]:
    """Return the stages that open together: the stage `name` and the streamed stages that follow it."""
    stages = stages_of(kind)
    place = stages.index(stage_of(kind, name))
    streamed = takewhile(lambda stage: stage.streamed, stages[place + 1 :])
    return (name, *(stage.name for stage in streamed))


def has_conversation_stage(kind: str) -> bool:
    """Return whether a pipeline has a stage with conversations."""
    return any(has_conversations(stage.queue) for stage in stages_of(kind))


def step_of(module: str) -> Step:
    """Import the module of a step."""
    return cast(Step, importlib.import_module(module))


def hook_of(name: str) -> Callable[["Session", "Run"], None]:
    """Import the function named by "package.module:function"."""
    return cast(Callable[["Session", "Run"], None], function_of(name))


def warm_up(queue: str) -> None:
    """Call the `warm_up` functions of all stages of a queue (see `Stage`)."""
    selection = (stage for kind in kinds().values() for stage in kind.stages if stage.queue == queue)
    for name in dict.fromkeys(stage.warm_up for stage in selection if stage.warm_up):
        function_of(name)()


def function_of(name: str) -> Callable[..., Any]:
    """Import the function named by "package.module:function"."""
    module, _, function = name.partition(":")
    return cast(Callable[..., Any], getattr(importlib.import_module(module), function))


def optional_function(module: str | None, name: str) -> Callable[..., Any] | None:
    """Import a module of a kind, and return its function of this name; None without the module or the function."""
    return getattr(importlib.import_module(module), name, None) if module else None
