"""Read a C project as a run of the results store, with all processors: `run_scan`."""

import os
from dataclasses import dataclass
from pathlib import Path

from jarvis_workers.api.silent_run import run_silently
from jarvis_workers.api.user_settings import local_settings
from jarvis_workers.builds.compile_sources import CompileOptions
from jarvis_workers.c2rust.runs.project_files import SYMBOLS, directory_of
from jarvis_workers.c2rust.runs.scan_graphs import GraphRequest, default_dot, default_subgraphs, write_graphs
from jarvis_workers.c2rust.runs.scan_results import export_symbols, read_body
from jarvis_workers.c2rust.runs.symbol_scan import ParseInput, plan_of, scan_request
from jarvis_workers.c2rust.stages.options import ParseOptions
from jarvis_workers.runs.request import RunRequest
from jarvis_workers.runs.sources import SourceTree
from jarvis_workers.settings import Settings

StrPath = str | os.PathLike[str]


@dataclass(frozen=True, slots=True)
class SymbolScan:
    """A scan: the path of symbols.jsonl, the id of the run, and the units that were not read, with the reasons."""

    symbols: Path
    run_id: str
    not_checked: tuple[tuple[str, str], ...] = ()


def run_scan(
    root: StrPath = ".",
    *,
    dot: StrPath | None = None,
    only_dot: bool = False,
    subgraphs_dir: StrPath | None = None,
    only_subgraphs: bool = False,
    png: bool = True,
    compile_commands: StrPath | None = None,
    allow_errors: bool = False,
) -> SymbolScan:
    """Read a C project as `jarvis c2rust scan` does on this machine, and write its files and graphs.

    Only the command can record a build; the resulting `compile_commands` can be used here.  With `only_dot` or
    `only_subgraphs` the graphs of an earlier scan are written.  Units that could not be read are in `not_checked`.
    Raises UsageError, including for a run without a result.
    """
    place = Path(root)
    settings = local_settings()
    options = CompileOptions.from_settings(settings, None if compile_commands is None else Path(compile_commands))
    scan = SymbolScan(directory_of(place) / SYMBOLS, "")
    if not (only_dot or only_subgraphs):
        scan = _scan(settings, place, options, allow_errors=allow_errors)
    request = GraphRequest(
        Path(dot) if dot is not None else default_dot(place) if only_dot else None,
        Path(subgraphs_dir) if subgraphs_dir is not None else default_subgraphs(place) if only_subgraphs else None,
        png,
    )
    if request:
        write_graphs(place, request)
    return scan


def _scan(settings: Settings, root: Path, options: CompileOptions, *, allow_errors: bool) -> SymbolScan:
    def request(source: SourceTree, executor: str) -> RunRequest[ParseInput]:
        plan = plan_of(settings, source.path, options)
        return scan_request(ParseOptions(allow_errors=allow_errors), settings, source, plan, executor)

    with run_silently(settings, root, request) as (_, store, blobs, run):
        export_symbols(store, blobs, run)
        gaps = read_body(store, blobs, run).not_checked
    return SymbolScan(directory_of(root) / SYMBOLS, run.id, tuple((gap.file, gap.reason) for gap in gaps))
