"""Execute a scan, and its verification by agents, locally or on a cluster."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import typer

from jarvis_cli import exits
from jarvis_cli.baseline_source import Part, baseline_of, unchanged_of
from jarvis_cli.following import following
from jarvis_cli.output import deliver
from jarvis_cli.progress import display
from jarvis_cli.report_target import Delivery
from jarvis_cli.run_local import carry_out
from jarvis_cli.status_output import Display, write_line
from jarvis_workers.errors import BrokerUnavailable
from jarvis_workers.service import wiring
from jarvis_workers.service.budgets import budget_of
from jarvis_workers.service.health import unserved_queues
from jarvis_workers.service.runs import find_run
from jarvis_workers.service.scan_input import ScanInput
from jarvis_workers.service.scratchdata import with_data_directory
from jarvis_workers.service.sources import SourceTree, open_source
from jarvis_workers.service.submit import RunRequest, submit
from jarvis_workers.service.targets import ScanTarget
from jarvis_workers.settings import Settings
from jarvis_workers.steps.sec.judge_options import JudgeOptions
from jarvis_workers.store.engine import Store
from jarvis_workers.store.runs import Run

if TYPE_CHECKING:
    from jarvis_workers.dispatch.broker import Doorbell


@dataclass(frozen=True)
class Wanted:
    """The target of a scan and its options; `globs` are those to include and to exclude.

    `baseline` is a report or a revision; files unchanged since the revision `since` are left out. `agents` are the
    options of the verification by agents, None disables it.
    """

    target: ScanTarget
    globs: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    given: ScanInput = field(default_factory=ScanInput)
    baseline: str | None = None
    since: str | None = None
    agents: JudgeOptions | None = None

    @property
    def without_agents(self) -> "Wanted":
        """Return the same without agents and remark, for the scan of a baseline."""
        return replace(self, agents=None).with_remark(None)

    def with_remark(self, remark: str | None) -> "Wanted":
        """Return the same with a remark, which is repeated in the report."""
        return replace(self, given=replace(self.given, options=replace(self.given.options, remark=remark)))


def scan_tree(settings: Settings, wanted: Wanted, asked: Delivery, *, detach: bool, quiet: bool) -> int:
    """Scan where the settings require, and report unless the run is detached from this command."""
    if (remark := wanted.given.options.remark) and not quiet:
        typer.echo(f"jarvis: {remark}", err=True)
    if settings.place == "cluster":
        return _scan_on_cluster(settings, wanted, None if detach else asked, quiet)
    if wanted.agents:
        return _scan_here(settings, wanted, asked, quiet)
    with with_data_directory(settings, write_line) as writable:
        is_kept = writable is settings
        return _scan_here(writable, wanted, replace(asked, is_kept=is_kept), quiet, resumable=is_kept)


def _scan_here(settings: Settings, wanted: Wanted, asked: Delivery, quiet: bool, *, resumable: bool = True) -> int:
    """Scan with child processes of this command, and report; a run that is not stored is not `resumable`."""
    with wiring.store_of(settings, tell=write_line) as store:
        with display(quiet) as screen:
            run = scan_here(settings, store, wanted, screen, resumable=resumable)
        return deliver(store, wiring.blobs_of(settings), run, asked, screen)


def scan_here(settings: Settings, store: Store, wanted: Wanted, screen: Display, *, resumable: bool = True) -> Run:
    """Scan with child processes of this command, and return the run."""

    def scan(part: Part, wanted: Wanted = wanted.without_agents) -> Run:
        with (
            following(screen, store, grows=True) as show,
            wiring.executor_of(settings, store, tell=screen.tell, show=show) as local,
        ):
            with part.opened as source:
                request = _request(settings, source, wanted, local.executor)
                run_id = submit(store, local.world.blobs, part.of(request), screen.packing)
            return carry_out(local, run_id, screen, resumable=resumable)

    return scan(_compared(settings, store, wanted, scan), wanted)


def _scan_on_cluster(settings: Settings, wanted: Wanted, asked: Delivery | None, quiet: bool) -> int:
    """Submit to the workers, wait and report; if `asked` is None, print the run's id and return at once.

    The scan of a baseline revision is waited for in any case.
    """
    from jarvis_workers.service import remote  # noqa: PLC0415

    with wiring.store_of(settings, tell=write_line) as store, remote.bell_of(settings) as bell:
        blobs = wiring.blobs_of(settings)
        with display(quiet) as screen:

            def begin(part: Part, wanted: Wanted) -> str:
                with part.opened as source:
                    request = _request(settings, source, wanted, remote.EXECUTOR)
                    return submit(store, blobs, part.of(request), screen.packing)

            def scan(part: Part) -> Run:
                return wait_for_workers(settings, store, begin(part, wanted.without_agents), screen)

            run_id = begin(_compared(settings, store, wanted, scan), wanted)
            if asked is None:
                return leave(settings, store, bell, find_run(store, run_id), screen)
            run = wait_for_workers(settings, store, run_id, screen)
        return deliver(store, blobs, run, asked, screen)


def leave(settings: Settings, store: Store, bell: "Doorbell", run: Run, screen: Display) -> int:
    """Detach from a submitted run, and print its id."""
    from jarvis_workers.service import remote  # noqa: PLC0415

    typer.echo(run.id)
    # A notification that cannot be sent now is sent by the workers.
    with suppress(BrokerUnavailable):
        remote.ring(settings, store, bell)
    if queues := unserved_queues.missing(store, run.kind, settings.lease_seconds):
        screen.tell(unserved_queues.says(queues))
    return exits.DONE


def wait_for_workers(settings: Settings, store: Store, run_id: str, screen: Display) -> Run:
    """Wait until the workers have finished a run; on an interrupt, print how to continue."""
    from jarvis_workers.service import remote  # noqa: PLC0415

    with remote.bell_of(settings) as bell, following(screen, store, grows=True) as show:
        try:
            return remote.carry_out(settings, store, bell, run_id, show=show, tell=screen.tell)
        except KeyboardInterrupt:
            screen.tell(f"run {run_id} goes on without this command; see: jarvis runs wait {run_id}")
            raise


def _compared(settings: Settings, store: Store, wanted: Wanted, scan: Callable[[Part], Run]) -> Part:
    """Return the part to scan, after `scan` has produced what it is compared with."""
    bounds = wiring.tree_bounds_of(settings)
    unchanged = unchanged_of(wanted.target.root, wanted.since, bounds)
    baseline = baseline_of(store, wanted.target, wanted.baseline, scan, bounds)
    return Part(open_source(wanted.target.root, bounds=bounds), baseline=baseline, unchanged=unchanged)


def _request(settings: Settings, source: SourceTree, wanted: Wanted, executor: str) -> RunRequest[ScanInput]:
    kind, agents = "sec.agent" if wanted.agents else "sec.fast", wanted.agents
    given = replace(wanted.given, options=agents) if agents else wanted.given
    selection = wiring.selection_of(settings, *wanted.globs, origin=source.origin)
    return replace(
        wiring.request_for(settings, source, kind, executor, given),
        budget=budget_of(settings, *agents.model_groups) if agents else None,
        selection=replace(selection, paths=wanted.target.paths),
    )
