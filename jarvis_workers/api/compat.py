"""Compatibility functions: scan a tree, verify the findings with a model, and return the report.

The settings are those of the command line; runs are recorded in the same store, and `jarvis runs` lists them.
"""

from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

from jarvis_workers.api.silent_run import run_silently
from jarvis_workers.api.user_settings import local_settings
from jarvis_workers.errors import UsageError
from jarvis_workers.report_formats import format_of
from jarvis_workers.runs import wiring
from jarvis_workers.runs.atomic_write import write_whole
from jarvis_workers.runs.budgets import budget_of
from jarvis_workers.runs.conversation_limits import agent_limits_of
from jarvis_workers.runs.models import model_name
from jarvis_workers.runs.request import RunRequest
from jarvis_workers.runs.run_kinds import StoredRun
from jarvis_workers.runs.run_part import run_part
from jarvis_workers.runs.scan_request import blobs_of, request_for
from jarvis_workers.runs.sources import SourceTree
from jarvis_workers.sec.report_json import body_to_json
from jarvis_workers.sec.rulesets.rulebook import choose, open_rulebook
from jarvis_workers.sec.run_reports import reports
from jarvis_workers.sec.runs.reading import with_intro, with_reader
from jarvis_workers.sec.runs.scan_input import ScanInput
from jarvis_workers.sec.runs.scan_runs import find_scan, scan_of
from jarvis_workers.sec.runs.scan_settings import scan_options_of
from jarvis_workers.sec.runs.security_notes import read_notes
from jarvis_workers.sec.stages.judge_options import CLUSTER_LIMIT, JudgeOptions
from jarvis_workers.sec.stages.options import SecOptions
from jarvis_workers.settings import Settings


def direct_scan(path: str | Path, *, settings: Settings | None = None) -> dict[str, Any]:
    """Scan locally with rules only; return {"run": ..., "summary": ..., "issues": [...]}. Raises JarvisError."""
    settings = settings or local_settings()
    with _executed(settings, path, scan_options_of(settings, SecOptions)) as (_, store, blobs, run):
        return {"run": run_part(store, run), **body_to_json(reports.read_body(store, blobs, scan_of(run)))}


def run_security_analysis_fast(
    path: str | Path, report_file: str | Path | None = None, *, settings: Settings | None = None
) -> str:
    """Scan with rules only; return the report in the format for the suffix of `report_file`, by default Markdown.

    If given, `report_file` is written as well. Raises JarvisError.
    """
    settings = settings or local_settings()
    return _reported(settings, path, scan_options_of(settings, SecOptions), report_file)


def run_security_analysis(
    path: str | Path,
    llm_group: str | None = None,
    cluster_limit: int = CLUSTER_LIMIT,
    report_file: str | Path | None = None,
    *,
    settings: Settings | None = None,
) -> str:
    """Scan, read the files and verify the findings with the models of a group; return the report.

    The format is as for `run_security_analysis_fast`; with the setting agent.read "none", nothing is read.
    Raises UsageError if no model is configured; findings that could not be verified are undecided, with the reason.
    """
    settings = settings or local_settings()
    group = model_name(settings, llm_group)
    agents = scan_options_of(
        settings,
        JudgeOptions,
        model_group=group,
        agent_limits=agent_limits_of(settings),
        cluster_limit=cluster_limit,
        notes=read_notes(settings),
    )
    return _reported(settings, path, with_reader(settings, agents, group), report_file)


def build_json_and_markdown(run_id: str, *, settings: Settings | None = None) -> tuple[str, str]:
    """Return the report of a scan as JSON and as Markdown; `run_id` is an id, a prefix of an id, or "last"."""
    settings = settings or local_settings()
    with wiring.store_of(settings, create=False) as store:
        run, blobs = find_scan(store, run_id), blobs_of(settings)
        return reports.render(store, blobs, run, "json"), reports.render(store, blobs, run, "markdown")


def _reported(settings: Settings, path: str | Path, options: SecOptions, report_file: str | Path | None) -> str:
    file = None if report_file is None else Path(report_file)
    form = "markdown" if file is None else format_of(file, "markdown")
    if form is None:
        raise UsageError(f"{file}: unknown suffix")
    with _executed(settings, path, options) as (_, store, blobs, run):
        text = reports.render(store, blobs, scan_of(run), form)
    if file is not None:
        write_whole(file, [text])
    return text


def _executed(settings: Settings, path: str | Path, options: SecOptions) -> AbstractContextManager[StoredRun]:
    """Execute a scan."""
    rules = choose(open_rulebook([Path(one).expanduser() for one in settings.rules.paths]), settings.rules)
    kind, agents = ("sec.agent", options) if isinstance(options, JudgeOptions) else ("sec.fast", None)

    def request(source: SourceTree, executor: str) -> RunRequest[ScanInput]:
        scan_input = with_intro(ScanInput(options, rules=rules), source.path)
        given = request_for(settings, source, kind, executor, scan_input)
        if agents is None:
            return given
        return replace(given, budget=budget_of(settings, *agents.model_groups))

    return run_silently(settings, path, request)
