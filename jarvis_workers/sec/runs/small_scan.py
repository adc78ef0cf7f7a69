"""Scan a small tree in a fork, without the database libraries, whose import takes longer than the scan.

The run is recorded when it is complete, in one transaction; until then, the store contains nothing about it. All
special cases are left to the regular path, which repeats the scan: a tree that is not small, takes long or is not
checked completely, findings with triage verdicts, a file that kills its process, a store that is new, busy or not
SQLite. A command that must not start processes scans in its own.
"""

import os
import signal
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from secrets import token_hex
from typing import Any

from jarvis_workers.errors import JarvisError
from jarvis_workers.paths import as_text, from_text
from jarvis_workers.runs.checkouts import committed_files
from jarvis_workers.runs.health.process_identity import this_worker
from jarvis_workers.runs.labels import marked_labels
from jarvis_workers.runs.request import RunRequest, check_snapshot, run_of
from jarvis_workers.runs.run_facts import RunCosts, run_facts
from jarvis_workers.runs.scan_request import resources_of
from jarvis_workers.sec.report_document import ReportBody
from jarvis_workers.sec.report_json import body_from_json, body_to_json
from jarvis_workers.sec.rules import RULES
from jarvis_workers.sec.rulesets.rulebook import Rulebook, choose
from jarvis_workers.sec.runs.recorded_scan import recorded
from jarvis_workers.sec.runs.scan_input import ScanInput
from jarvis_workers.sec.stages.direct import is_one_batch, scan_directly
from jarvis_workers.sec.stages.ruleset import installed
from jarvis_workers.sec.store.sqlite_recorder import record_run, run_events
from jarvis_workers.settings import Settings
from jarvis_workers.snapshots.pack import pack
from jarvis_workers.store.sqlite_reader import open_direct
from jarvis_workers.store.values import Run
from jarvis_workers.toolchain.forked import Crashed, map_here, map_in_fork

# One process scans this much in about a second; larger runs benefit from several processes.
BYTES_MAX = 1_000_000
# A longer scan needs progress display and resumption.
CPU_SECONDS = 3.0
WALL_SECONDS = 10.0
SCAN = "sec.fast"


@dataclass(frozen=True, slots=True)
class SmallScan:
    """A completed and recorded run, the `run` part and the body of its report, and its events."""

    run: Run
    facts: dict[str, Any]
    body: ReportBody
    events: list[dict[str, Any]]


def small_executor() -> str:
    """Return the name of this command as executor of a run."""
    return f"local:{this_worker(token_hex(4), 1).id}"


def scan_small(settings: Settings, request: RunRequest[ScanInput], excluded: Sequence[str] = ()) -> SmallScan | None:
    """Scan a small tree without special cases, by the built-in rules that the settings choose, but the `excluded` ones.

    Otherwise return None, and nothing has been recorded. For single-threaded processes. Raises no JarvisError: the
    regular path raises the same error.
    """
    try:
        rules = choose(Rulebook(RULES), settings.rules, excluded)
        chosen = replace(request, run_input=replace(request.run_input, rules=rules))
        if not (_is_small(request, settings.scan.small_files) and _is_plain(settings, chosen)):
            return None
        forks = settings.process_count > 0
        scan = partial(_scan_within_limits if forks else _scan, settings)
        (answer,) = (map_in_fork if forks else map_here)([chosen], scan, lambda _: CPU_SECONDS)
    except JarvisError:
        return None
    if isinstance(answer, Crashed) or answer is None:
        return None
    run = Run(**{**answer["run"], "root_raw": from_text(answer["run"]["root_raw"])})
    return SmallScan(run, answer["facts"], body_from_json(answer["body"]), answer["events"])


def _is_plain(settings: Settings, request: RunRequest[ScanInput]) -> bool:
    """Return whether a fork may be started and the run needs nothing that only the database libraries can read."""
    scan_input = request.run_input
    if scan_input.options.profile or installed():
        return False
    if (
        scan_input.build is not None
        or scan_input.alerts is not None
        or scan_input.baseline
        or scan_input.triage.more
        or scan_input.triage.learns
    ):
        return False
    if request.kind != SCAN or scan_input.rules.facts.project or request.selection.unchanged is not None:
        return False
    with open_direct(settings.effective_store_url) as connection:
        with suppress(sqlite3.Error):
            return connection is not None and connection.execute("SELECT 1 FROM judgement LIMIT 1").fetchone() is None
        return False


def _is_small(request: RunRequest[ScanInput], most_files: int) -> bool:
    """Return whether the tree is small; counting, which includes excluded files, stops at the limits."""
    size = 0
    for number, path in enumerate(_files_below(request), 1):
        try:
            size += path.lstat().st_size
        except OSError:
            return False
        if number > most_files or size > BYTES_MAX:
            return False
    return True


def _files_below(request: RunRequest[ScanInput]) -> Iterator[Path]:
    paths = [request.path / os.fsdecode(path) for path in request.selection.paths] or [request.path]
    for path in paths:
        if not path.is_dir():
            yield path
        for directory, _, names in os.walk(path):
            yield from (Path(directory, name) for name in names)


def _scan_within_limits(settings: Settings, request: RunRequest[ScanInput]) -> dict[str, Any] | None:
    """Scan in a process that ends at a time limit, even when blocked."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, WALL_SECONDS)
    return _scan(settings, request)


def _scan(settings: Settings, request: RunRequest[ScanInput]) -> dict[str, Any] | None:
    """Scan and record; return a JSON value, None for what is left to the regular path."""
    resources = resources_of(settings)
    blobs = resources.blobs
    committed = committed_files(request.path, request.selection)
    snapshot = pack(request.path, request.selection, blobs, committed=committed)
    check_snapshot(request, snapshot)
    for content in request.run_input.contents:
        blobs.put(content)
    run = run_of(request, snapshot)
    if not is_one_batch(run, blobs):
        return None
    done = scan_directly(run, resources)
    if done.run.state != "done" or done.body.summary.not_listed:
        return None
    with open_direct(settings.effective_store_url, write=True) as connection:
        if connection is None:
            return None
        try:
            record_run(connection, replace(recorded(done, snapshot, blobs), labels=marked_labels(request.labels, run)))
        except sqlite3.Error:
            return None
    return {
        "run": asdict(done.run) | {"root_raw": as_text(done.run.root_raw)},
        "facts": run_facts(done.run, done.stages, RunCosts()),
        "body": body_to_json(done.body),
        "events": run_events(done.run, done.stages),
    }
