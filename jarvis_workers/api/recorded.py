"""Run a scan with a results store, as the command line does: a private store, or that of the user."""

import os
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from jarvis_workers.api.answers import answer_of
from jarvis_workers.api.baseline import is_revision, reported_baseline
from jarvis_workers.api.options import ScanOptions
from jarvis_workers.api.progress import CancelToken, ProgressCallback, ScanProgress
from jarvis_workers.api.requests import choose_rules, process_count, request_of
from jarvis_workers.api.silent_run import say_nothing
from jarvis_workers.api.user_settings import user_settings
from jarvis_workers.errors import JarvisError, StoreError, UsageError
from jarvis_workers.executors.local.executor import LocalExecutor
from jarvis_workers.paths import plain
from jarvis_workers.runs import runs, wiring
from jarvis_workers.runs.labels import baseline_labels
from jarvis_workers.runs.request import RunRequest
from jarvis_workers.runs.run_part import run_part
from jarvis_workers.runs.scan_request import blobs_of
from jarvis_workers.runs.sources import SourceTree, open_revision, open_source, unchanged_since
from jarvis_workers.runs.submit import submit
from jarvis_workers.runs.targets import ScanTarget, older_selection
from jarvis_workers.sec.run_reports import reports
from jarvis_workers.sec.run_reports.reports import export
from jarvis_workers.sec.run_reports.run_baselines import of_run
from jarvis_workers.sec.run_reports.run_files import export_directory
from jarvis_workers.sec.runs.scan_input import Baseline, ScanInput
from jarvis_workers.sec.runs.scan_runs import ScanRun, scan_of
from jarvis_workers.sec.store import candidates
from jarvis_workers.settings import Cache, Settings
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Run, StageProgress

TICK_SECONDS = 0.4
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


def scan_with_store(
    options: ScanOptions,
    target: ScanTarget,
    name: bytes | None,
    place: Path,
    on_progress: ProgressCallback | None,
    cancel: CancelToken,
) -> dict[str, Any]:
    """Return the input of `report.report_from`; `place` is a private directory, `name` the root shown in reports."""
    settings = _settings(options, place)
    with wiring.store_of(settings) as store:
        watcher = Watcher(store, on_progress, cancel)

        def scan(source: SourceTree, paths: tuple[bytes, ...], change: Callable[[Request], Request]) -> Run:
            with wiring.executor_of(settings, store, tell=say_nothing, show=watcher.show) as local:
                request = change(request_of(options, source, paths, local.executor))
                run_id = submit(store, local.world.blobs, request, watcher.packing)
                run = _carry_out(settings, store, local, run_id)
            watcher.show(run, runs.stages_of(store, run))  # the last stages may have ended between two polls
            return run

        unchanged = unchanged_since(target.root, options.since) if options.since else None
        baseline = _baseline(store, options, target, scan)
        with open_source(target.root) as opened:
            source = opened._replace(root=name or opened.root)
            run = scan(
                source,
                target.paths,
                lambda request: replace(
                    request,
                    run_input=replace(request.run_input, baseline=baseline),
                    selection=replace(request.selection, unchanged=unchanged),
                    labels={**request.labels, **options.labels},
                ),
            )
            return _answer(settings, store, scan_of(run), options)


def _settings(options: ScanOptions, place: Path) -> Settings:
    """Return settings with a private store, or with that of the user."""
    flags = {"where": "local", "data_dir": options.data_directory and os.fspath(options.data_directory)}
    if options.record:
        settings = user_settings(**flags)
    else:
        data = options.data_directory if options.cache else place
        private = {"store_url": f"sqlite:///{place / 'jarvis.db'}", "blobs_url": str(place / "blobs"), "where": "local"}
        settings = Settings.model_validate(private | ({"data_dir": Path(data)} if data else {}))
    changes = {
        "processes": process_count(options),
        "tick_seconds": min(TICK_SECONDS, settings.tick_seconds),
        "cache": settings.cache if options.cache else Cache(max_mb=0),
    }
    return settings.model_copy(update=changes)


def _carry_out(settings: Settings, store: Store, local: LocalExecutor, run_id: str) -> Run:
    """Execute a run; it is cancelled if the caller cancels, interrupts or fails, so that nothing remains to resume."""

    def cancel() -> None:
        with suppress(StoreError, UsageError):
            runs.cancel(store, runs.find_run(store, run_id), settings.lease_seconds)

    with ExitStack() as on_failure:
        on_failure.callback(cancel)
        run = local.carry_out(run_id)
        on_failure.pop_all()
    if run.state not in ("done", "incomplete"):
        raise JarvisError(f"the scan ended as {run.state}: {run.reason}")
    return run


def _baseline(
    store: Store,
    options: ScanOptions,
    target: ScanTarget,
    scan: Callable[[SourceTree, tuple[bytes, ...], Callable[[Request], Request]], Run],
) -> Baseline | None:
    """Return the baseline; a git revision is scanned for it."""
    if not is_revision(options):
        return reported_baseline(options, target)
    named = os.fspath(options.baseline)  # type: ignore[arg-type]
    try:
        with open_revision(target.root, named) as revision:
            run = scan(
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
    return of_run(store, scan_of(run), revision.says, revision.renamed)


def _answer(settings: Settings, store: Store, run: ScanRun, options: ScanOptions) -> dict[str, Any]:
    blobs = blobs_of(settings)
    body = reports.read_body(store, blobs, run)
    rules = choose_rules(options).rules
    if options.write_artifacts and (directory := export_directory(run)):
        export(store, blobs, run, directory, body=body)
    return answer_of(run, run_part(store, run), body, rules, blobs)
