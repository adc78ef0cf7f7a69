"""Write the files of a run to `<root>/.jarvis/sec/`, at its end or while it is running."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TextIO

from jarvis_workers.runs.jarvis_directory import make_directory
from jarvis_workers.sec.report import json_line
from jarvis_workers.sec.report.body import AT_RISK
from jarvis_workers.sec.report_document import Issue, ReportBody
from jarvis_workers.sec.report_json import issue_to_json
from jarvis_workers.sec.run_reports.live import Follower, Updates, cluster_row
from jarvis_workers.sec.run_reports.run_files import HEURISTIC, PROGRESS, progress_row, refuse_unwritable, write_files
from jarvis_workers.sec.runs.scan_runs import ScanRun
from jarvis_workers.sec.stages.verdicts import has_verdicts
from jarvis_workers.sec.stages.write_report import list_issues
from jarvis_workers.sec.store import clusters
from jarvis_workers.store import events
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Run

CLUSTERS, AGENT = "cluster_report.jsonl", "agent_issues.jsonl"


def export(store: Store, run: ScanRun, body: ReportBody, directory: Path) -> list[Path]:
    """Write each file atomically, with all candidates ordered by gid; return the paths. Raises UsageError.

    The files are heuristic_issues.jsonl and progress.jsonl, for runs with agents also cluster_report.jsonl and
    agent_issues.jsonl. `body` is that of the report.
    """
    with refuse_unwritable(directory, run):
        files: dict[str, Iterable[Mapping[str, Any]]] = {HEURISTIC: _rows(_issues(store, run, body))}
        if has_verdicts(run):
            files |= {CLUSTERS: _clusters(store, run), AGENT: _rows(filter(_is_risk, _issues(store, run, body)))}
            progress: Iterable[Mapping[str, Any]] = Follower(store).look(run, issues=False).progress
        else:
            with store.read() as session:
                progress = [progress_row(event, run) for event in events.read(session, run.id)]
        files[PROGRESS] = progress
        return write_files(run, directory, files)


class Growing:
    """The files of a run with agents, extended while it is running; `export` rewrites them at the end."""

    def __init__(self, directory: Path) -> None:
        """Raises UsageError or OSError if the files cannot be written."""
        make_directory(directory, own=True)
        self._files = {name: _begin(directory / name) for name in (CLUSTERS, AGENT, PROGRESS)}

    def add(self, updates: Updates) -> None:
        """Append new results."""
        rows = {CLUSTERS: updates.clusters, AGENT: _rows(filter(_is_risk, updates.issues)), PROGRESS: updates.progress}
        for name, stream in self._files.items():
            stream.writelines(map(json_line, rows[name]))
            stream.flush()

    def close(self) -> None:
        for stream in self._files.values():
            stream.close()


def _begin(path: Path) -> TextIO:
    """Create a new file; an existing file or link is replaced rather than written to."""
    path.unlink(missing_ok=True)
    return path.open("x", encoding="utf-8", errors="backslashreplace")


def _issues(store: Store, run: Run, body: ReportBody) -> Iterator[Issue]:
    """Yield the issues of a report, or all from the store if the report does not list all."""
    if not body.summary.not_listed and not body.summary.dismissed_not_listed:
        listed = [*body.issues, *body.dismissed]
        yield from sorted(listed, key=lambda issue: issue.gid) if body.dismissed else listed
        return
    with store.read() as session:
        yield from list_issues(session, run)


def _rows(issues: Iterable[Issue]) -> Iterator[Mapping[str, Any]]:
    return map(issue_to_json, issues)


def _clusters(store: Store, run: Run) -> list[Mapping[str, Any]]:
    with store.read() as session:
        return [cluster_row(cluster) for cluster in clusters.read(session, run.id)]


def _is_risk(issue: Issue) -> bool:
    return issue.status in AT_RISK
