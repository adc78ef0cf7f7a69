"""Execute the scans of one call in a results store: that of a tree, and that of the revision it is compared with."""

import os
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace

from jarvis_workers.api.options import ScanOptions
from jarvis_workers.api.progress import CancelToken, ProgressCallback, ScanProgress
from jarvis_workers.api.requests import request_of
from jarvis_workers.api.silent_run import say_nothing
from jarvis_workers.errors import JarvisError, StoreError, UsageError
from jarvis_workers.executors.local.executor import LocalExecutor
from jarvis_workers.paths import plain
from jarvis_workers.runs import runs, wiring
from jarvis_workers.runs.labels import baseline_labels
from jarvis_workers.runs.request import RunRequest
from jarvis_workers.runs.sources import SourceTree, open_revision
from jarvis_workers.runs.submit import submit
from jarvis_workers.runs.targets import ScanTarget, older_selection
from jarvis_workers.sec.run_reports.run_baselines import of_run
from jarvis_workers.sec.runs.scan_input import Baseline, ScanInput
from jarvis_workers.sec.runs.scan_runs import ScanRun, scan_of
from jarvis_workers.sec.store import candidates
from jarvis_workers.settings import Settings
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Run, StageProgress

Request = RunRequest[ScanInput]


class Watcher:
    """Reports progress to the caller, and stops the scan when the caller cancels it."""

    def __init__(self, store: Store, on_progress: ProgressCallback | None, cancel: CancelToken) -> None:
        self._store = store
        self._tell = on_progress
        self._cancel = cancel
        self._last: dict[str, ScanProgress] = {}

    def packing(self, files: int, size: int) -> None:
        self._cancel.check()
        if self._tell:
            self._tell(ScanProgress("pack", size, 0, files, 0))

    def show(self, run: Run, stages: list[StageProgress]) -> None:
        self._cancel.check()
        if not self._tell:
            return
        with self._store.read() as session:
            findings = candidates.count(session, run.id)
        for stage in stages:
            event = _event(stage, findings)
            if stage.jobs and event != self._last.get(stage.name):
                self._last[stage.name] = event
                self._tell(event)


def _event(stage: StageProgress, findings: int) -> ScanProgress:
    done, total = (stage.weight_done, stage.weight) if stage.weight else (stage.done + stage.failed, stage.jobs)
    return ScanProgress(stage.name, done, total, stage.files, findings)  # type: ignore[arg-type]


@dataclass(frozen=True)
class StoredScans:
    """Executes scans with these options."""

    settings: Settings
    store: Store
    options: ScanOptions
    watcher: Watcher

    def scan(self, source: SourceTree, paths: tuple[bytes, ...], change: Callable[[Request], Request]) -> ScanRun:
        """Scan a tree, and return the ended run; `change` completes its request."""
        settings, store, watcher = self.settings, self.store, self.watcher
        with wiring.executor_of(settings, store, tell=say_nothing, show=watcher.show) as local:
            request = change(request_of(self.options, source, paths, local.executor))
            run = self._carry_out(local, submit(store, local.world.blobs, request, watcher.packing))
        watcher.show(run, runs.stages_of(store, run))  # the last stages may have ended between two polls
        return scan_of(run)

    def scan_revision(self, target: ScanTarget) -> Baseline:
        """Scan the git revision that is the baseline of the options. Raises UsageError."""
        named = os.fspath(self.options.baseline)  # type: ignore[arg-type]
        try:
            with open_revision(target.root, named) as revision:
                run = self.scan(
                    revision.source,
                    target.paths,
                    lambda request: replace(
                        request,
                        may_be_empty=True,
                        selection=older_selection(request.selection, revision.renamed),
                        labels={**request.labels, **baseline_labels(revision.says)},
                    ),
                )
        except UsageError as problem:
            raise UsageError(
                f"baseline {plain(named)} is not a report file, and cannot be used as a revision: {problem}"
            ) from problem
        return of_run(self.store, run, revision.says, revision.renamed)

    def _carry_out(self, local: LocalExecutor, run_id: str) -> Run:
        """Execute a run; it is cancelled if the caller cancels, interrupts or fails: nothing remains to resume."""

        def cancel() -> None:
            with suppress(StoreError, UsageError):
                runs.cancel(self.store, runs.find_run(self.store, run_id), self.settings.lease_seconds)

        with ExitStack() as on_failure:
            on_failure.callback(cancel)
            run = local.carry_out(run_id)
            on_failure.pop_all()
        if run.state not in ("done", "incomplete"):
            raise JarvisError(f"the scan ended as {run.state}: {run.reason}")
        return run
