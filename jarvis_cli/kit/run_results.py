"""What commands do with the result of a run: the functions of the module that its kind names (`RunKind.output`)."""

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import typer

from jarvis_cli.kit import exits
from jarvis_cli.kit.report_target import Delivery, write_report
from jarvis_cli.kit.status_output import Display, Show
from jarvis_workers.errors import UsageError
from jarvis_workers.paths import plain
from jarvis_workers.runs import run_kinds
from jarvis_workers.runs.run_kinds import StoredRun

if TYPE_CHECKING:
    from jarvis_workers.store.engine import Store

WITH_RESULTS = ("done", "incomplete")


class RunOutput(Protocol):
    """The interface of a module with the output of a kind; each function is optional.

    `follow` yields what shows the progress of a run to a command that waits for it, by default that of the display, and
    with True also updates the files of the run.  The others return the exit code.  `report` writes the report, by
    default that of the kind's result, and `conclude` prints the outcome of a run that has ended or is paused, by
    default its state.  `deliver` does both after a run was resumed; it may write files as well.  `export` writes the
    files of the run to a directory, by default that of its source, and prints their paths.
    """

    follow: Callable[[Display, "Store", bool], AbstractContextManager[Show]]
    report: Callable[[StoredRun, Delivery], int]
    conclude: Callable[[StoredRun, Display], int]
    deliver: Callable[[StoredRun, Delivery, Display], int]
    export: Callable[[StoredRun, Path | None], int]


def follow(stored: StoredRun, screen: Display, *, grows: bool) -> AbstractContextManager[Show]:
    """Yield what shows the progress of a run; with `grows` it updates the files of the run."""
    function = run_kinds.output_function(stored.run, "follow")
    if function is None:
        return nullcontext(screen.show)
    following: AbstractContextManager[Show] = function(screen, stored.store, grows)
    return following


def report(stored: StoredRun, delivery: Delivery) -> int:
    """Write the report of a run; return the exit code."""
    return _call("report", write_rendered, stored, delivery)


def conclude(stored: StoredRun, screen: Display) -> int:
    """Print the outcome of a run that has ended or is paused; return the exit code."""
    return _call("conclude", _conclude_state, stored, screen)


def deliver(stored: StoredRun, delivery: Delivery, screen: Display) -> int:
    """Report on a run that was resumed; return the exit code."""
    return _call("deliver", _deliver_report, stored, delivery, screen)


def export(stored: StoredRun, directory: Path | None) -> int:
    """Write the files of a run; return the exit code. Raises UsageError."""
    return _call("export", _refuse_export, stored, directory)


def write_rendered(stored: StoredRun, delivery: Delivery) -> int:
    """Write the report that the result of a run renders. Raises UsageError for a format that it does not have."""
    write_report(run_kinds.render(stored, delivery.form), delivery.output)
    return exits.of_state(stored.run.state)


def print_paths(paths: Iterable[Path]) -> int:
    """Print the paths of files that were written; return the exit code."""
    for path in paths:
        typer.echo(plain(str(path)))
    return exits.DONE


def _conclude_state(stored: StoredRun, screen: Display) -> int:
    run = stored.run
    screen.conclude(f"run {run.id} (kind {plain(run.kind)}) is {run.state}", well=run.state == "done")
    return exits.of_state(run.state)


def _deliver_report(stored: StoredRun, delivery: Delivery, screen: Display) -> int:
    if run_kinds.offers(stored.run, "render") and stored.run.state in WITH_RESULTS:
        report(stored, delivery)
    return conclude(stored, screen)


def _refuse_export(stored: StoredRun, _: Path | None) -> int:
    raise UsageError(f"run {stored.run.id} has no files")


def _call(name: str, default: Callable[..., int], stored: StoredRun, *more: object) -> int:
    function = run_kinds.output_function(stored.run, name) or default
    code: int = function(stored, *more)
    return code
