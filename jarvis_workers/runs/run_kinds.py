"""The result of a run, from the module that its kind names (`pipeline.stages.RunKind`), for commands and the page."""

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from jarvis_workers.errors import UsageError
from jarvis_workers.pipeline.stages import find_kind, kind_of, optional_function

if TYPE_CHECKING:
    from jarvis_workers.settings import Settings
    from jarvis_workers.snapshots.blobs import Blobs
    from jarvis_workers.store.engine import Store
    from jarvis_workers.store.values import Run

Panel = Mapping[str, Any]
JOBS = "jobs"


class StoredRun(NamedTuple):
    """A run with the places of its results."""

    settings: "Settings"
    store: "Store"
    blobs: "Blobs"
    run: "Run"


class RunResult(Protocol):
    """The interface of a module that knows the result of a kind of run; each function is optional.

    `render` yields the pieces of the report in a format, `graph` those of an interactive page.  `panel` returns the
    texts on the page of the run by their headings, None before there are any.  `advice` says what to do about a paused
    run, "" if there is nothing to say.
    """

    render: Callable[[StoredRun, str], Iterable[str]]
    graph: Callable[[StoredRun], Iterable[str]]
    panel: Callable[[StoredRun], Panel | None]
    advice: Callable[["Run"], str]


def output_function(run: "Run", name: str) -> Callable[..., Any] | None:
    """Return a function of the module with the output of a run, None without it.

    Raises UsageError if no installed package provides the kind of the run.
    """
    return optional_function(kind_of(run.kind).output, name)


def offers(run: "Run", name: str) -> bool:
    """Return whether the module of the result of a run has a function; not if its kind is not installed here."""
    return _function(run, name) is not None


def render(stored: StoredRun, form: str) -> Iterable[str]:
    """Return the pieces of the report of a run. Raises UsageError for a kind or a format without a report."""
    pieces: Iterable[str] = _required(stored.run, "render", "report")(stored, form)
    return pieces


def graph(stored: StoredRun) -> Iterable[str]:
    """Return the pieces of the interactive page of a run. Raises UsageError for a kind without one."""
    pieces: Iterable[str] = _required(stored.run, "graph", "graph")(stored)
    return pieces


def panel(stored: StoredRun) -> Panel | None:
    """Return the texts on the page of a run by their headings, None without any.

    Raises UsageError if no installed package provides the kind of the run.
    """
    function = optional_function(kind_of(stored.run.kind).result, "panel")
    texts: Panel | None = function(stored) if function else None
    return texts


def text_panel(heading: str, stored: StoredRun) -> Panel | None:
    """Return the text report of an ended run under a heading."""
    return {heading: "".join(render(stored, "text")).rstrip("\n")} if stored.run.ended else None


def advice(run: "Run") -> str:
    """Return what to do about a paused run, "" without advice."""
    function = _function(run, "advice")
    return function(run) if function else ""


def comparison_of(run: "Run") -> Callable[..., int] | None:
    """Return the function that compares two runs of this kind, None if they are compared by their findings.

    It gets the runs and the keywords `form`, `file` and `fail_on`, writes the difference and returns the exit code.
    """
    return optional_function(kind_of(run.kind).compare, "compare")


def units_of(run: "Run", stage: str) -> str:
    """Return the plural of the jobs of a stage; "jobs" for an unknown stage or kind, such as one of another version."""
    kind = find_kind(run.kind)
    return next((one.units for one in kind.stages if one.name == stage), JOBS) if kind else JOBS


def _function(run: "Run", name: str) -> Callable[..., Any] | None:
    kind = find_kind(run.kind)
    return optional_function(kind.result, name) if kind else None


def _required(run: "Run", name: str, what: str) -> Callable[..., Any]:
    function = optional_function(kind_of(run.kind).result, name)
    if function is None:
        raise UsageError(f"run {run.id} has no {what}")
    return function
