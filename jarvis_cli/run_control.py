"""Wait for, cancel, resume and retry runs: implementation of commands of `jarvis runs`."""

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import typer

from jarvis_cli import (
    agent_output,
    code_output,
    conversion_output,
    exits,
    fix_output,
    interface_output,
    optimize_output,
    replacement_output,
    symbol_output,
)
from jarvis_cli.following import follow
from jarvis_cli.output import deliver, retry_with_notice
from jarvis_cli.progress import display
from jarvis_cli.report_target import Delivery, conclude, output_target
from jarvis_cli.run_local import run_locally
from jarvis_cli.scan import wait_for_workers
from jarvis_cli.status_output import Display, write_line
from jarvis_workers.paths import plain
from jarvis_workers.service import runs, wiring
from jarvis_workers.service.assistant.code_branches import is_code
from jarvis_workers.service.budgets import read_budget_option
from jarvis_workers.service.c2rust.conversion_results import is_conversion
from jarvis_workers.service.c2rust.interface_results import is_interface
from jarvis_workers.service.c2rust.optimize_results import is_optimization
from jarvis_workers.service.c2rust.replacement_results import is_replacement
from jarvis_workers.service.c2rust.scan_results import is_symbol_scan
from jarvis_workers.service.fixes.fix_results import is_fix
from jarvis_workers.service.health.delays import showing_delays
from jarvis_workers.service.reports import reports
from jarvis_workers.service.scan_request import blobs_of
from jarvis_workers.service.scan_runs import is_scan, scan_of
from jarvis_workers.settings import Settings
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Run


def wait(settings: Settings, run: str, timeout: float | None, *, quiet: bool) -> int:
    """Wait for a run to end, at most `timeout` seconds; return the exit code of the run."""
    with wiring.store_of(settings, tell=write_line, create=False) as store:
        target_run = runs.find_run(store, run)
        _check_broker(settings, target_run)
        with display(quiet) as screen, follow(screen, store) as show_all:
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
        if ended.kind in agent_output.KINDS:
            return agent_output.conclude_answer(settings.data_dir, store, blobs_of(settings), ended, screen)
        if is_code(ended):
            return code_output.conclude_code(settings.data_dir, store, blobs_of(settings), ended, screen)
        return _conclusion(ended, quiet=quiet)(store, blobs_of(settings), ended, screen)


def _conclusion(run: Run, *, quiet: bool) -> Callable[[Store, Blobs, Run, Display], int]:
    """Return the function that prints the outcome of a run that scans, fixes findings or is over a C project."""
    if is_fix(run):
        return fix_output.conclude_fixes
    if is_conversion(run):
        return conversion_output.conclude_conversion
    if is_interface(run):
        return interface_output.conclude_interface
    if is_replacement(run):
        return replacement_output.conclude_replacement
    if is_optimization(run):
        return optimize_output.conclude_optimization
    return symbol_output.conclude if is_symbol_scan(run) else partial(_conclude_scan, quiet)


def _conclude_scan(quiet: bool, store: Store, blobs: Blobs, run: Run, screen: Display) -> int:
    if not is_scan(run):
        return _conclude_other(store, blobs, run, screen)
    body = retry_with_notice(lambda: reports.read_body(store, blobs, scan_of(run)), screen)
    return conclude(run, body, Delivery(None, "json", runs.first_delivery(run).fail_on, quiet=quiet), screen)


def _check_broker(settings: Settings, run: Run) -> None:
    if not runs.is_local(run) and not run.ended:
        from jarvis_workers.service import remote  # noqa: PLC0415

        remote.check_broker(settings)


def cancel(settings: Settings, run: str) -> int:
    """Cancel a run."""
    with wiring.store_of(settings, tell=write_line, create=False) as store:
        ended = runs.cancel(store, runs.find_run(store, run), settings.lease_seconds)
    typer.echo(f"run {ended.id} is {ended.state}", err=True)
    return exits.DONE


def resume(settings: Settings, run: str, delivery: Delivery, budget: str | None, *, quiet: bool) -> int:
    """Resume a run, with a new budget if one is given; then report."""
    more = read_budget_option(budget)

    def take_up(store: Store, target_run: Run, executor: str) -> None:
        runs.resume(store, target_run, executor, settings.lease_seconds, budget=more)

    return _go_on(settings, run, delivery, quiet, take_up)


def retry(settings: Settings, run: str, delivery: Delivery, budget: str | None, *, quiet: bool) -> int:
    """Retry the failed jobs of a run, with a new budget if one is given; then report."""
    more = read_budget_option(budget)

    def take_up(store: Store, target_run: Run, executor: str) -> None:
        runs.retry(store, target_run, executor, budget=more)

    return _go_on(settings, run, delivery, quiet, take_up)


def _go_on(
    settings: Settings, run: str, delivery: Delivery, quiet: bool, take_up: Callable[[Store, Run, str], None]
) -> int:
    with wiring.store_of(settings, tell=write_line, create=False) as store:
        target_run = runs.find_run(store, run)
        delivery = _as_started(target_run, delivery)
        with display(quiet) as screen:
            if runs.is_local(target_run):
                with (
                    follow(screen, store, grows=True) as show_all,
                    wiring.executor_of(settings, store, tell=screen.tell, show=show_all) as local,
                ):
                    take_up(store, target_run, local.executor)
                    ended = run_locally(local, target_run.id, screen)
            else:
                take_up(store, target_run, target_run.executor)
                ended = wait_for_workers(settings, store, target_run.id, screen)
        return _finish(settings, ended)(store, blobs_of(settings), ended, delivery, screen)


def _as_started(run: Run, delivery: Delivery) -> Delivery:
    """Return a delivery like that of the command that started the run, except for what this command was told itself.

    A command with a target or a format gets neither from the first one.
    """
    first = runs.first_delivery(run)
    base = Path(first.relative_to) if first.relative_to else None
    delivery = replace(delivery, fail_on=delivery.fail_on or first.fail_on, relative_to=delivery.relative_to or base)
    if not delivery.is_default:
        return delivery
    return replace(delivery, output=output_target(first.output), form=first.form or delivery.form)


def _finish(settings: Settings, run: Run) -> Callable[[Store, Blobs, Run, Delivery, Display], int]:
    """Return the function that reports on a run of this kind."""
    if is_code(run):
        return partial(code_output.deliver_code, settings.data_dir)
    if is_fix(run):
        return fix_output.deliver_fixes
    if run.kind in agent_output.KINDS:
        return partial(agent_output.deliver_answer, settings.data_dir)
    return _finish_project(run)


def _finish_project(run: Run) -> Callable[[Store, Blobs, Run, Delivery, Display], int]:
    if is_conversion(run):
        return conversion_output.deliver_conversion
    if is_interface(run):
        return interface_output.deliver_interface_report
    if is_replacement(run):
        return replacement_output.deliver_replacement_report
    if is_optimization(run):
        return optimize_output.deliver_optimization_report
    if is_symbol_scan(run):
        return symbol_output.deliver_report
    return _deliver_scan


def _deliver_scan(store: Store, blobs: Blobs, run: Run, delivery: Delivery, screen: Display) -> int:
    if is_scan(run):
        return deliver(store, blobs, scan_of(run), delivery, screen)
    return _conclude_other(store, blobs, run, screen)


def _conclude_other(store: Store, blobs: Blobs, run: Run, screen: Display) -> int:
    """Print the state of a run whose kind, such as one of another package, has no report here."""
    screen.conclude(f"run {run.id} (kind {plain(run.kind)}) is {run.state}", well=run.state == "done")
    return agent_output.exit_code(run)
