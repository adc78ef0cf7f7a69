"""Wait for, cancel, resume and retry runs: implementation of commands of `jarvis runs`."""

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import typer

from jarvis_cli.kit import exits, run_results
from jarvis_cli.kit.progress import display
from jarvis_cli.kit.report_target import Delivery, output_target
from jarvis_cli.kit.status_output import run_locally, write_line
from jarvis_cli.kit.submission import wait_for_workers
from jarvis_workers.runs import runs, wiring
from jarvis_workers.runs.budgets import read_budget_option
from jarvis_workers.runs.health.delays import showing_delays
from jarvis_workers.runs.run_kinds import StoredRun
from jarvis_workers.runs.scan_request import blobs_of
from jarvis_workers.settings import Settings


def wait(settings: Settings, run: str, timeout: float | None, *, quiet: bool) -> int:
    """Wait for a run to end, at most `timeout` seconds; return the exit code of the run."""
    with wiring.store_of(settings, tell=write_line, create=False) as store:
        target_run = runs.find_run(store, run)
        stored = StoredRun(settings, store, blobs_of(settings), target_run)
        _check_broker(stored)
        with display(quiet) as screen, run_results.follow(stored, screen, grows=False) as show_all:
            waiting = runs.Waiting(
                clock=time.monotonic,
                sleep=time.sleep,
                show=showing_delays(show_all, screen.tell, store),
                tell=screen.tell,
                tick_seconds=settings.tick_seconds,
                lease_seconds=settings.lease_seconds,
            )
            try:
                ended = runs.wait(store, target_run.id, timeout, waiting)
            except KeyboardInterrupt:
                screen.tell(
                    f"run {target_run.id} continues without this command; see: jarvis runs wait {target_run.id}"
                )
                raise
        if ended is None:
            screen.tell(f"run {target_run.id} is still running after {timeout:g} s")
            return exits.TIMED_OUT
        if not ended.ended and ended.state != "paused":
            screen.tell(f"run {ended.id}: its command has ended; continue with: jarvis runs resume {ended.id}")
            return exits.INCOMPLETE
        return run_results.conclude(stored._replace(run=ended), screen)


def _check_broker(stored: StoredRun) -> None:
    if not runs.is_local(stored.run) and not stored.run.ended:
        from jarvis_workers.runs import remote  # noqa: PLC0415

        remote.check_broker(stored.settings)


def cancel(settings: Settings, run: str) -> int:
    """Cancel a run."""
    with wiring.store_of(settings, tell=write_line, create=False) as store:
        ended = runs.cancel(store, runs.find_run(store, run), settings.lease_seconds)
    typer.echo(f"run {ended.id} is {ended.state}", err=True)
    return exits.DONE


def resume(settings: Settings, run: str, delivery: Delivery, budget: str | None, *, quiet: bool) -> int:
    """Resume a run, with a new budget if one is given; then report."""
    more = read_budget_option(budget)

    def take_up(stored: StoredRun, executor: str) -> None:
        runs.resume(stored.store, stored.run, executor, settings.lease_seconds, budget=more)

    return _go_on(settings, run, delivery, quiet, take_up)


def retry(settings: Settings, run: str, delivery: Delivery, budget: str | None, *, quiet: bool) -> int:
    """Retry the failed jobs of a run, with a new budget if one is given; then report."""
    more = read_budget_option(budget)

    def take_up(stored: StoredRun, executor: str) -> None:
        runs.retry(stored.store, stored.run, executor, budget=more)

    return _go_on(settings, run, delivery, quiet, take_up)


def _go_on(
    settings: Settings, run: str, delivery: Delivery, quiet: bool, take_up: Callable[[StoredRun, str], None]
) -> int:
    with wiring.store_of(settings, tell=write_line, create=False) as store:
        target_run = runs.find_run(store, run)
        stored = StoredRun(settings, store, blobs_of(settings), target_run)
        delivery = _as_started(stored, delivery)
        with display(quiet) as screen, run_results.follow(stored, screen, grows=True) as show_all:
            if runs.is_local(target_run):
                with wiring.executor_of(settings, store, tell=screen.tell, show=show_all) as local:
                    take_up(stored, local.executor)
                    ended = run_locally(local, target_run.id, screen)
            else:
                take_up(stored, target_run.executor)
                ended = wait_for_workers(settings, store, target_run.id, screen, show_all)
        return run_results.deliver(stored._replace(run=ended), delivery, screen)


def _as_started(stored: StoredRun, delivery: Delivery) -> Delivery:
    """Return a delivery like that of the command that started the run, except for what this command was told itself.

    A command with a target or a format gets neither from the first one.
    """
    first = runs.first_delivery(stored.run)
    base = Path(first.relative_to) if first.relative_to else None
    delivery = replace(delivery, fail_on=delivery.fail_on or first.fail_on, relative_to=delivery.relative_to or base)
    if not delivery.is_default:
        return delivery
    return replace(delivery, output=output_target(first.output), form=first.form or delivery.form)
