"""Run a scan with a results store, as the command line does: a private store, or that of the user."""

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

from jarvis_workers.api.answers import answer_of
from jarvis_workers.api.baseline import is_revision, reported_baseline
from jarvis_workers.api.options import ScanOptions
from jarvis_workers.api.progress import CancelToken, ProgressCallback
from jarvis_workers.api.requests import choose_rules, process_count
from jarvis_workers.api.stored_scans import StoredScans, Watcher
from jarvis_workers.api.user_settings import user_settings
from jarvis_workers.runs import wiring
from jarvis_workers.runs.run_part import run_part
from jarvis_workers.runs.scan_request import blobs_of
from jarvis_workers.runs.sources import open_source, unchanged_since
from jarvis_workers.runs.targets import ScanTarget
from jarvis_workers.sec.run_reports import reports
from jarvis_workers.sec.run_reports.run_export import export
from jarvis_workers.sec.run_reports.run_files import export_directory
from jarvis_workers.sec.runs.scan_runs import ScanRun
from jarvis_workers.settings import Cache, Settings
from jarvis_workers.store.engine import Store

TICK_SECONDS = 0.4


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
        scans = StoredScans(settings, store, options, Watcher(store, on_progress, cancel))
        unchanged = unchanged_since(target.root, options.since) if options.since else None
        baseline = scans.scan_revision(target) if is_revision(options) else reported_baseline(options, target)
        with open_source(target.root) as opened:
            source = opened._replace(root=name or opened.root)
            run = scans.scan(
                source,
                target.paths,
                lambda request: replace(
                    request,
                    run_input=replace(request.run_input, baseline=baseline),
                    selection=replace(request.selection, unchanged=unchanged),
                    labels={**request.labels, **options.labels},
                ),
            )
            return _answer(settings, store, run, options)


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


def _answer(settings: Settings, store: Store, run: ScanRun, options: ScanOptions) -> dict[str, Any]:
    blobs = blobs_of(settings)
    body = reports.read_body(store, blobs, run)
    rules = choose_rules(options).rules
    if options.write_artifacts and (directory := export_directory(run)):
        export(store, run, body, directory)
    return answer_of(run, run_part(store, run), body, rules, blobs)
