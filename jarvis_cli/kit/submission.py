"""Submit a run, or continue an earlier one, and wait for the workers of a cluster."""

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

import typer

from jarvis_cli.kit import exits
from jarvis_cli.kit.status_output import Display, Show
from jarvis_workers.errors import BrokerUnavailable
from jarvis_workers.models.ratelimit.budget import RunBudget
from jarvis_workers.runs.health import unserved_queues
from jarvis_workers.runs.named_runs import NameTaken, RunName, find_named
from jarvis_workers.runs.runs import resume
from jarvis_workers.settings import Settings
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Run

if TYPE_CHECKING:
    from jarvis_workers.executors.dispatch.broker import Notifier

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


def detach_run(settings: Settings, store: Store, notifier: "Notifier", run: Run, screen: Display) -> int:
    """Detach from a submitted run, and print its id."""
    from jarvis_workers.runs import remote  # noqa: PLC0415

    typer.echo(run.id)
    # A notification that cannot be sent now is sent by the workers.
    with suppress(BrokerUnavailable):
        remote.notify_workers(settings, store, notifier)
    if queues := unserved_queues.missing(store, run, settings.lease_seconds):
        screen.tell(unserved_queues.describe_missing(queues))
    return exits.DONE


def wait_for_workers(settings: Settings, store: Store, run_id: str, screen: Display, show: Show) -> Run:
    """Wait until the workers have finished a run; on an interrupt, print how to continue."""
    from jarvis_workers.runs import remote  # noqa: PLC0415

    with remote.notifier_of(settings) as notifier:
        try:
            return remote.carry_out(settings, store, notifier, run_id, show=show, tell=screen.tell)
        except KeyboardInterrupt:
            screen.tell(f"run {run_id} continues without this command; see: jarvis runs wait {run_id}")
            raise
