"""Begin a run, or continue the run of the same name."""

from collections.abc import Callable
from typing import TypeVar

from jarvis_cli.status_output import Display
from jarvis_workers.ratelimit.budget import RunBudget
from jarvis_workers.service.named_runs import NameTaken, RunName, find_named
from jarvis_workers.service.runs import resume
from jarvis_workers.settings import Settings
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Run

T = TypeVar("T")


def begin_or_go_on(
    store: Store,
    name: RunName | None,
    screen: Display,
    *,
    begin: Callable[[], T],
    go_on: Callable[[Run], T],
    unfinished: Callable[[Store], Run | None] | None = None,
) -> T:
    """Continue the run that has this name, even if another command has just submitted it; otherwise begin one.

    The run that `unfinished` returns is continued as well.
    """
    if unfinished and (earlier := unfinished(store)):
        screen.tell(f"run {earlier.id} continues, with the files of its start; to begin a new run: --no-resume")
        return go_on(earlier)
    if earlier := _named(store, name, screen):
        return go_on(earlier)
    try:
        return begin()
    except NameTaken:
        earlier = _named(store, name, screen)
        if earlier is None:
            raise
        return go_on(earlier)


def resume_on_cluster(store: Store, run: Run, settings: Settings, budget: RunBudget | None) -> str:
    """Resume a run of the cluster if it is paused; return its id."""
    if run.state == "paused":
        resume(store, run, run.executor, settings.lease_seconds, budget=budget)
    return run.id


def _named(store: Store, name: RunName | None, screen: Display) -> Run | None:
    run = find_named(store, name) if name else None
    if name and run:
        screen.tell(f'"{name.name}" is run {run.id}, which {"has ended" if run.ended else "continues"}')
    return run
