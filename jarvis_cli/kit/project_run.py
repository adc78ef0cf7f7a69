"""Execute a run over a tree locally or on a cluster: submit it, show its progress, deliver its result."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from jarvis_cli.kit.progress import display
from jarvis_cli.kit.report_target import Delivery
from jarvis_cli.kit.status_output import Display, notices, run_locally, write_line
from jarvis_cli.kit.submission import begin_or_go_on, detach_run, resume_on_cluster, wait_for_workers
from jarvis_workers.errors import UsageError
from jarvis_workers.models.ratelimit.budget import RunBudget
from jarvis_workers.runs import wiring
from jarvis_workers.runs.health.needed_extras import require_extras
from jarvis_workers.runs.named_runs import RunName
from jarvis_workers.runs.request import FollowUpRequest, InputT, RunInput, RunRequest
from jarvis_workers.runs.run_kinds import StoredRun
from jarvis_workers.runs.runs import find_run, resume
from jarvis_workers.runs.scan_request import blobs_of
from jarvis_workers.runs.sources import SourceTree, open_source
from jarvis_workers.runs.submit import submit, submit_over
from jarvis_workers.settings import Settings, load_settings
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Run

NewBudget = Callable[[], RunBudget | None]


@dataclass(frozen=True, kw_only=True)
class RunCommand:
    """A command that executes a run over the tree at a path; a run with a `name` is continued by the next command.

    So is the run that `unfinished` returns. `request` creates the request for an executor; `deliver` writes the results
    and returns the exit code.
    """

    path: str
    request: Callable[[SourceTree, str, Display], RunRequest[RunInput]]
    deliver: Callable[[StoredRun, Display], int]
    detach: bool
    quiet: bool
    name: RunName | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    unfinished: Callable[[Store], Run | None] | None = None

    def submit(self, settings: Settings, store: Store, executor: str, screen: Display) -> str:
        """Submit the run, and return its id."""
        with open_source(self.path, bounds=wiring.tree_bounds_of(settings)) as source:
            request = self.request(source, executor, screen)
            request = replace(request, name=self.name, labels={**request.labels, **self.labels})
            if executor.startswith("local:"):
                return submit(store, blobs_of(settings), request, screen.packing)
            from jarvis_workers.runs import remote  # noqa: PLC0415

            return remote.submit_to_workers(store, wiring.shared_blobs_of(settings), request, screen.packing)


@dataclass(frozen=True)
class FollowUpCommand:
    """A command that executes a run over the snapshot of an earlier one."""

    earlier: Run
    request: FollowUpRequest
    deliver: Callable[[StoredRun, Display], int]
    quiet: bool
    detach: bool = False
    name: RunName | None = None
    unfinished: Callable[[Store], Run | None] | None = None

    def submit(self, settings: Settings, store: Store, executor: str, screen: Display) -> str:
        """Submit the run, and return its id."""
        return submit_over(store, self.earlier, replace(self.request, executor=executor))


def project_settings(flags: Mapping[str, object], *, detach: bool) -> Settings:
    """Return the settings of a command with these flags. Raises UsageError for a detached local run."""
    settings = load_settings(flags, directory=Path.cwd())
    if detach and settings.place == "local":
        raise UsageError("--detach needs a cluster (JARVIS_BROKER_URL): a local run is executed by this command")
    return settings


def deliver_as(request: RunRequest[InputT], delivery: Delivery) -> RunRequest[InputT]:
    """Return the request of a run that another command can resume and deliver in the same way."""
    options = replace(request.run_input.options, **delivery.run_options)
    return replace(request, run_input=replace(request.run_input, options=options))


def execute_run(
    settings: Settings,
    command: RunCommand | FollowUpCommand,
    *,
    budget: NewBudget = lambda: None,
    answers: Path | None = None,
    offline: bool = False,
) -> int:
    """Execute the run of a command; return the exit code.

    A run that is continued gets the `budget`. In a local run, the answers of models are recorded in the directory
    `answers` or, `offline`, replayed from it.
    """
    require_extras(settings)
    if settings.place == "cluster":
        return _on_cluster(settings, command, budget)
    return _here(settings, command, budget, answers, offline=offline)


def _here(
    settings: Settings,
    command: RunCommand | FollowUpCommand,
    budget: NewBudget,
    answers: Path | None,
    *,
    offline: bool,
) -> int:
    with wiring.store_of(settings, tell=write_line) as store:
        with (
            display(command.quiet) as screen,
            wiring.executor_of(
                settings,
                store,
                tell=(tell := notices(screen, quiet=command.quiet)),
                show=screen.show,
                runtime=lambda: wiring.runtime_of(settings, answers, tell=tell, offline=offline),
            ) as local,
        ):

            def begin() -> Run:
                return run_locally(local, command.submit(settings, store, local.executor, screen), screen)

            def go_on(earlier: Run) -> Run:
                if earlier.ended:
                    return earlier
                resume(store, earlier, local.executor, settings.lease_seconds, budget=budget())
                return run_locally(local, earlier.id, screen)

            run = begin_or_go_on(store, command.name, screen, begin=begin, go_on=go_on, unfinished=command.unfinished)
        return command.deliver(StoredRun(settings, store, blobs_of(settings), run), screen)


def _on_cluster(settings: Settings, command: RunCommand | FollowUpCommand, budget: NewBudget) -> int:
    from jarvis_workers.executors.dispatch.sender import EXECUTOR  # noqa: PLC0415
    from jarvis_workers.runs import remote  # noqa: PLC0415

    with wiring.store_of(settings, tell=write_line) as store, remote.notifier_of(settings) as notifier:
        blobs = wiring.shared_blobs_of(settings)
        with display(command.quiet) as screen:

            def begin() -> str:
                return command.submit(settings, store, EXECUTOR, screen)

            def go_on(earlier: Run) -> str:
                return resume_on_cluster(store, earlier, settings, budget())

            run_id = begin_or_go_on(
                store, command.name, screen, begin=begin, go_on=go_on, unfinished=command.unfinished
            )
            if command.detach:
                return detach_run(settings, store, notifier, find_run(store, run_id), screen)
            run = wait_for_workers(settings, store, run_id, screen, screen.show)
        return command.deliver(StoredRun(settings, store, blobs, run), screen)
