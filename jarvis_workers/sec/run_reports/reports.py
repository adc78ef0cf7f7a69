"""Reports of a run: the body from the store, the `run` part from the rows, rendered in a format."""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TextIO

from jarvis_workers.paths import plain
from jarvis_workers.pipeline.history import read_result
from jarvis_workers.runs.jarvis_directory import make_directory
from jarvis_workers.runs.run_part import run_part
from jarvis_workers.sec.report import FORMATS, PATCHED, json_line
from jarvis_workers.sec.report.body import AT_RISK
from jarvis_workers.sec.report_document import Issue, ReportBody, ReportGap
from jarvis_workers.sec.report_json import body_from_json, issue_to_json
from jarvis_workers.sec.run_reports.enrichment import enrich_body, language_facts
from jarvis_workers.sec.run_reports.live import Follower, Updates, cluster_row
from jarvis_workers.sec.run_reports.run_files import HEURISTIC, PROGRESS, progress_row, refuse_unwritable, write_files
from jarvis_workers.sec.runs.scan_runs import REPORTED, ScanRun
from jarvis_workers.sec.stages.options import SecOptions
from jarvis_workers.sec.stages.report_body import report_body
from jarvis_workers.sec.stages.scan_files import merge
from jarvis_workers.sec.stages.verdicts import has_verdicts
from jarvis_workers.sec.stages.write_report import REPORT, list_issues, load
from jarvis_workers.sec.store import clusters
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.store import artifacts, events, jobs, model_usage
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Run

WHOLE_TREE = "."


def read_body(store: Store, blobs: Blobs, run: ScanRun) -> ReportBody:
    """Return summary and issues: as written by the report stage or, before that, the results so far.

    If the scan is not done, something is listed as not checked, even if every file was read.
    """
    with store.read() as session:
        blob = artifacts.find(session, run.id, REPORT) if run.state in REPORTED else None
        work = None if blob else load(session, run)
    body = report_body(work, blobs) if work else body_from_json(json.loads(blobs.read(blob or "")))
    return _with_gap(run, body)


def _with_gap(run: ScanRun, body: ReportBody) -> ReportBody:
    summary = body.summary
    if run.state == "done" or summary.not_checked or (run.state in REPORTED and body.issues):
        return body
    why = f" ({plain(run.reason)})" if run.reason else ""
    gap = ReportGap(WHOLE_TREE, f"the scan is {run.state}{why}: findings may be missing")
    return body._replace(summary=summary._replace(not_checked=(gap,)))


def render(store: Store, blobs: Blobs, run: ScanRun, form: str) -> str:
    """Return the report of a run in a format of `FORMATS`."""
    return "".join(compose(store, blobs, run, read_body(store, blobs, run), form))


def compose(store: Store, blobs: Blobs, run: Run, body: ReportBody, form: str) -> Iterator[str]:
    """Yield the pieces of a report with the given body, with code around its findings if the format shows any."""
    return FORMATS[form](*prepare(store, blobs, run, body, form))


def prepare(store: Store, blobs: Blobs, run: Run, body: ReportBody, form: str) -> tuple[ReportBody, dict[str, Any]]:
    """Return the body and the `run` part for the renderer of a format."""
    body = enrich_body(blobs, run, body, form)
    if form in PATCHED and has_verdicts(run):
        from jarvis_workers.sec.fix_runs.report_patches import read_patches  # noqa: PLC0415  (slow to import)

        body = body._replace(patches=read_patches(store, blobs, run))
    profile = {"profile": read_profile(store, blobs, run)} if has_profile(run) else {}
    return body, _with_calls(store, run, run_part(store, run)) | language_facts(run) | profile


def has_profile(run: Run) -> bool:
    return SecOptions.of(run).profile


def read_profile(store: Store, blobs: Blobs, run: Run) -> dict[str, Any]:
    """Return the times of the slowest rules and files of a run with profiling."""
    with store.read() as session:
        scans = jobs.outcomes(session, run.id, "scan")
    profiles = [read_result(blobs, scan.result).profile for scan in scans]
    return merge(profile for profile in profiles if profile)


def _with_calls(store: Store, run: Run, part: dict[str, Any]) -> dict[str, Any]:
    """Add the cost by stage and the latencies to the model entry, if there is one."""
    if not part["model"]:
        return part
    with store.read() as session:
        usage = {"by_stage": model_usage.by_stage(session, run.id), "latency": model_usage.latency(session, run.id)}
    return part | {"model": part["model"] | usage}


# Write the files of a run to `<root>/.jarvis/sec/`, each atomically.

CLUSTERS, AGENT = "cluster_report.jsonl", "agent_issues.jsonl"


def export(store: Store, blobs: Blobs, run: ScanRun, directory: Path, *, body: ReportBody | None = None) -> list[Path]:
    """Write the files of a run, with all candidates ordered by gid; return the paths. Raises UsageError.

    The files are heuristic_issues.jsonl and progress.jsonl, for runs with agents also cluster_report.jsonl and
    agent_issues.jsonl. `body` is the result of `read_body`, if the caller has it.
    """
    body = read_body(store, blobs, run) if body is None else body
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
