"""Optimize a Rust crate from Python, on this machine: `optimize_project`."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from jarvis_workers.api.choices import StrPath
from jarvis_workers.api.silent_run import run_silently, say_nothing
from jarvis_workers.api.user_settings import local_settings
from jarvis_workers.c2rust.optimization import PASSES, OptimizeReport
from jarvis_workers.c2rust.runs.conversion_request import require_tools
from jarvis_workers.c2rust.runs.optimize_results import OptimizeResult, reset_progress, write_empty_report
from jarvis_workers.c2rust.runs.optimize_run import OptimizeInput, chosen_files, find_rust_crate, optimize_request
from jarvis_workers.c2rust.stages.optimize_options import OptimizeOptions, OptimizeRequest
from jarvis_workers.errors import UsageError
from jarvis_workers.runs.request import RunRequest
from jarvis_workers.runs.sources import SourceTree
from jarvis_workers.settings import Settings


def optimize_project(  # noqa: PLR0913 - the options of the command
    crate_dir: StrPath | None = None,
    *,
    passes: Iterable[str] = tuple(PASSES),
    max_checks: int = 0,
    include: Iterable[str] = (),
    exclude: Iterable[str] = (),
    max_files: int | None = None,
    resume: bool = True,
    reset: bool = False,
    dry_run: bool = False,
    llm_group: str | None = None,
    build_fix_retries: int = 2,
) -> OptimizeReport:
    """Optimize a Rust crate as `jarvis c2rust optimize` does without a branch; write its files unless `dry_run`.

    Raises UsageError, also for a file that is edited meanwhile: then no file is written.
    """
    settings, chosen = local_settings(), list(passes)
    if unknown := [name for name in chosen if name not in PASSES]:
        raise UsageError(f"there is no pass {unknown[0]}; passes: {', '.join(PASSES)}")
    crate = find_rust_crate(Path(crate_dir) if crate_dir is not None else None, Path())
    if reset and not dry_run:
        reset_progress(crate)
    options = OptimizeOptions(
        passes=chosen, max_checks=max_checks, model_group=llm_group, fix_retries=build_fix_retries
    )
    request = OptimizeRequest(options=options, include=tuple(include), exclude=tuple(exclude), max_files=max_files)
    files = chosen_files(crate, replace(request, resume=resume and not reset), say_nothing)
    if not files:
        if not dry_run:
            write_empty_report(crate)
        return OptimizeReport()
    require_tools(settings)
    return _optimized(settings, crate, options, files, dry_run=dry_run)


def _optimized(
    settings: Settings, crate: Path, options: OptimizeOptions, files: Sequence[str], *, dry_run: bool
) -> OptimizeReport:
    def request(source: SourceTree, executor: str) -> RunRequest[OptimizeInput]:
        return optimize_request(settings, source, executor, options, files)

    with run_silently(settings, crate, request) as (_, store, blobs, run):
        result = OptimizeResult(store, blobs, run)
        if not dry_run:
            result.deliver(crate)
        return result.report or OptimizeReport()
