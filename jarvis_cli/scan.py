"""Execute a scan, and its verification by agents, locally or on a cluster."""

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import typer

from jarvis_cli import exits
from jarvis_cli.baseline_source import Part, baseline_of, unchanged_of
from jarvis_cli.following import follow
from jarvis_cli.named_run import begin_or_go_on, resume_on_cluster
from jarvis_cli.output import deliver
from jarvis_cli.progress import display
from jarvis_cli.report_target import Delivery
from jarvis_cli.run_local import run_locally
from jarvis_cli.status_output import Display, write_line
from jarvis_workers.errors import BrokerUnavailable
from jarvis_workers.paths import shown
from jarvis_workers.ratelimit.budget import RunBudget
from jarvis_workers.service import wiring
from jarvis_workers.service.budgets import budget_of
from jarvis_workers.service.health import unserved_queues
from jarvis_workers.service.health.needed_extras import require_extras
from jarvis_workers.service.named_runs import OF_DELIVERY, RunName, request_hash
from jarvis_workers.service.proofs import with_project
from jarvis_workers.service.reading import with_intro
from jarvis_workers.service.request import RunRequest
from jarvis_workers.service.runs import discard_run, find_run, resume
from jarvis_workers.service.scan_input import ScanInput
from jarvis_workers.service.scan_request import blobs_of, request_for, selection_of
from jarvis_workers.service.scan_runs import scan_of
from jarvis_workers.service.scratchdata import with_data_directory
from jarvis_workers.service.sources import SourceTree, is_address, open_source
from jarvis_workers.service.submit import submit
from jarvis_workers.service.targets import ScanTarget
from jarvis_workers.settings import Settings
from jarvis_workers.steps.sec.judge_options import JudgeOptions
from jarvis_workers.steps.sec.pipelines import RANKED
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Run

if TYPE_CHECKING:
    from jarvis_workers.dispatch.broker import Notifier


@dataclass(frozen=True)
class ScanCommand:
    """The target of a scan and its options; `globs` are the patterns to include and to exclude.

    `baseline` is a report or a revision; files unchanged since the revision `since` are left out. `agents` are the
    options of the verification by agents; None disables it. A dry run that is to read files only `ranks` them.
    """

    target: ScanTarget
    globs: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    scan_input: ScanInput = field(default_factory=ScanInput)
    baseline: str | None = None
    since: str | None = None
    agents: JudgeOptions | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    name: str | None = None
    ranks: bool = False

    @property
    def without_agents(self) -> "ScanCommand":
        """Return the command without agents, labels, name, remark and delivery, for the scan of a baseline."""
        command = replace(self, agents=None, ranks=False, labels={}, name=None)
        return command.with_options(remark=None, **dict.fromkeys(OF_DELIVERY))

    @property
    def kind(self) -> str:
        """The kind of the run."""
        return "sec.agent" if self.agents else RANKED if self.ranks else "sec.fast"

    def run_name(self, settings: Settings) -> RunName | None:
        """Return the name of the run with the hash of this command, or None if it is not named."""
        if self.name is None:
            return None
        root = self.target.root if is_address(self.target.root) else os.path.realpath(self.target.root)
        facts: dict[str, Any] = {
            "where": settings.place,
            "kind": self.kind,
            "source": [root, *map(shown, self.target.paths)],
            "globs": self.globs,
            "scan": settings.scan.model_dump(mode="json", exclude_defaults=True),
            "rules": self.scan_input.rules.facts.encode(),
            "triage": [self.scan_input.triage.stored, self.scan_input.triage.named, self.scan_input.triage.learns],
            "compared": [self.baseline, self.since],
        }
        if self.scan_input.build is not None:
            facts["build"] = self.scan_input.build_blob
        return RunName(self.name, request_hash(self.agents or self.scan_input.options, **facts))

    def with_remark(self, remark: str | None) -> "ScanCommand":
        """Return the command with a remark, which also appears in the report."""
        return self.with_options(remark=remark)

    def with_options(self, **options: Any) -> "ScanCommand":
        """Return the command with other options of its run."""
        scan_input = replace(self.scan_input, options=replace(self.scan_input.options, **options))
        return replace(self, scan_input=scan_input, agents=self.agents and replace(self.agents, **options))


def scan_tree(settings: Settings, command: ScanCommand, delivery: Delivery, *, detach: bool, quiet: bool) -> int:
    """Scan locally or on the cluster, as the settings say, and report unless the run is detached from this command."""
    require_extras(settings)
    command = command.with_options(**delivery.run_options)
    if (remark := command.scan_input.options.remark) and not quiet:
        typer.echo(f"jarvis: {remark}", err=True)
    if settings.place == "cluster":
        return _scan_on_cluster(settings, command, None if detach else delivery, quiet)
    if command.agents:
        return _scan_here(settings, command, delivery, quiet)
    with with_data_directory(settings, write_line) as writable:
        is_stored = writable is settings
        return _scan_here(writable, command, replace(delivery, is_stored=is_stored), quiet, resumable=is_stored)


def _scan_here(
    settings: Settings, command: ScanCommand, delivery: Delivery, quiet: bool, *, resumable: bool = True
) -> int:
    """Scan with child processes of this command, and report; a run that is not stored is not `resumable`."""
    with wiring.store_of(settings, tell=write_line) as store:
        with display(quiet) as screen:
            run = scan_here(settings, store, command, screen, resumable=resumable)
        return deliver(store, blobs_of(settings), scan_of(run), delivery, screen)


def scan_here(
    settings: Settings, store: Store, command: ScanCommand, screen: Display, *, resumable: bool = True
) -> Run:
    """Scan with child processes of this command, and return the run.

    A run that is not `resumable` is deleted if it is interrupted.
    """
    submitted: list[str] = []

    def scan(part: Part, command: ScanCommand = command.without_agents) -> Run:
        with (
            follow(screen, store, grows=True) as show,
            wiring.executor_of(settings, store, tell=screen.tell, show=show) as local,
        ):
            with part.opened as source:
                request = _request(settings, source, command, local.executor)
                submitted.append(submit(store, local.world.blobs, part.of(request), screen.packing))
            return run_locally(local, submitted[-1], screen, resumable=resumable)

    def begin() -> Run:
        return scan(_compared(settings, store, command, scan), command)

    def go_on(earlier: Run) -> Run:
        if earlier.ended:
            return earlier
        with (
            follow(screen, store, grows=True) as show,
            wiring.executor_of(settings, store, tell=screen.tell, show=show) as local,
        ):
            resume(store, earlier, local.executor, settings.lease_seconds, budget=_budget(settings, command))
            return run_locally(local, earlier.id, screen)

    try:
        return begin_or_go_on(store, command.run_name(settings), screen, begin=begin, go_on=go_on)
    except KeyboardInterrupt:
        if submitted and not resumable:
            discard_run(store, submitted[-1], settings.lease_seconds)
        raise


def _scan_on_cluster(settings: Settings, command: ScanCommand, delivery: Delivery | None, quiet: bool) -> int:
    """Submit to the workers, wait and report; if `delivery` is None, print the run's id and return at once.

    The command always waits for the scan of a baseline revision.
    """
    from jarvis_workers.dispatch.sender import EXECUTOR  # noqa: PLC0415
    from jarvis_workers.service import remote  # noqa: PLC0415

    with wiring.store_of(settings, tell=write_line) as store, remote.notifier_of(settings) as notifier:
        blobs = wiring.shared_blobs_of(settings)
        with display(quiet) as screen:

            def begin(part: Part, command: ScanCommand) -> str:
                with part.opened as source:
                    request = _request(settings, source, command, EXECUTOR)
                    return remote.submit_to_workers(store, blobs, part.of(request), screen.packing)

            def scan(part: Part) -> Run:
                return wait_for_workers(settings, store, begin(part, command.without_agents), screen)

            def begin_anew() -> str:
                return begin(_compared(settings, store, command, scan), command)

            def go_on(earlier: Run) -> str:
                return resume_on_cluster(store, earlier, settings, _budget(settings, command))

            run_id = begin_or_go_on(store, command.run_name(settings), screen, begin=begin_anew, go_on=go_on)
            if delivery is None:
                return detach_run(settings, store, notifier, find_run(store, run_id), screen)
            run = wait_for_workers(settings, store, run_id, screen)
        return deliver(store, blobs, scan_of(run), delivery, screen)


def detach_run(settings: Settings, store: Store, notifier: "Notifier", run: Run, screen: Display) -> int:
    """Detach from a submitted run, and print its id."""
    from jarvis_workers.service import remote  # noqa: PLC0415

    typer.echo(run.id)
    # A notification that cannot be sent now is sent by the workers.
    with suppress(BrokerUnavailable):
        remote.notify_workers(settings, store, notifier)
    if queues := unserved_queues.missing(store, run.kind, settings.lease_seconds):
        screen.tell(unserved_queues.describe_missing(queues))
    return exits.DONE


def wait_for_workers(settings: Settings, store: Store, run_id: str, screen: Display) -> Run:
    """Wait until the workers have finished a run; on an interrupt, print how to continue."""
    from jarvis_workers.service import remote  # noqa: PLC0415

    with remote.notifier_of(settings) as notifier, follow(screen, store, grows=True) as show:
        try:
            return remote.carry_out(settings, store, notifier, run_id, show=show, tell=screen.tell)
        except KeyboardInterrupt:
            screen.tell(f"run {run_id} continues without this command; see: jarvis runs wait {run_id}")
            raise


def _compared(settings: Settings, store: Store, command: ScanCommand, scan: Callable[[Part], Run]) -> Part:
    """Return the part to scan, after `scan` has scanned the baseline."""
    bounds = wiring.tree_bounds_of(settings)
    unchanged = unchanged_of(command.target.root, command.since, bounds)
    baseline = baseline_of(store, command.target, command.baseline, scan, bounds)
    return Part(open_source(command.target.root, bounds=bounds), baseline=baseline, unchanged=unchanged)


def _request(settings: Settings, source: SourceTree, command: ScanCommand, executor: str) -> RunRequest[ScanInput]:
    scan_input = command.scan_input
    if command.agents:
        scan_input = with_project(settings, replace(scan_input, options=command.agents), source.path)
    scan_input = with_intro(scan_input, source.path)
    selection = selection_of(settings, *command.globs, origin=source.origin)
    if scan_input.build is not None:
        from jarvis_workers.service.scan_flags import compiled_files  # noqa: PLC0415  (slow, and rarely needed)

        selection = replace(selection, compiled=compiled_files(scan_input.build, selection))
    return replace(
        request_for(settings, source, command.kind, executor, scan_input, labels=command.labels),
        budget=_budget(settings, command),
        skipped_stages=command.agents.skipped_stages if command.agents else (),
        name=command.run_name(settings),
        selection=replace(selection, paths=command.target.paths),
    )


def _budget(settings: Settings, command: ScanCommand) -> RunBudget | None:
    return budget_of(settings, *command.agents.model_groups) if command.agents else None
