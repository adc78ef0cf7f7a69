"""Read a C project as a run of the results store, with all processors: `run_scan`."""

import os
from dataclasses import dataclass
from pathlib import Path

from jarvis_workers.errors import UsageError
from jarvis_workers.service import wiring
from jarvis_workers.service.c2rust.compile_sources import CompileOptions
from jarvis_workers.service.c2rust.project_files import SYMBOLS, directory_of
from jarvis_workers.service.c2rust.scan_graphs import GraphRequest, default_dot, default_subgraphs, write_graphs
from jarvis_workers.service.c2rust.scan_results import export_symbols, read_body
from jarvis_workers.service.c2rust.symbol_scan import plan_of, scan_request
from jarvis_workers.service.handles import Store
from jarvis_workers.service.sources import open_source
from jarvis_workers.service.submit import submit
from jarvis_workers.settings import Settings, load_settings
from jarvis_workers.store.values import Run

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
    settings = load_settings({"where": "local"}, directory=Path.cwd())
    options = CompileOptions.from_settings(
        settings,
        compile_commands=Path(compile_commands) if compile_commands is not None else None,
        configure=None,
        build=None,
    )
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
    with wiring.store_of(settings) as store:
        run = _carry_out(settings, store, root, options, allow_errors=allow_errors)
        blobs = wiring.blobs_of(settings)
        if run.state not in ("done", "incomplete"):
            raise UsageError(f"run {run.id} is {run.state}: {run.reason or 'see jarvis runs show'}")
        export_symbols(store, blobs, run)
        gaps = read_body(store, blobs, run).not_checked
    return SymbolScan(directory_of(root) / SYMBOLS, run.id, tuple((gap.file, gap.reason) for gap in gaps))


def _carry_out(settings: Settings, store: Store, root: Path, options: CompileOptions, *, allow_errors: bool) -> Run:
    """Execute a run in this process and its children, without output."""
    with wiring.executor_of(settings, store, tell=_nothing, show=_nothing) as local:
        with open_source(str(root)) as source:
            plan = plan_of(settings, source.path, options)
            request = scan_request(settings, source, plan, local.executor, allow_errors=allow_errors)
            run_id = submit(store, local.world.blobs, request)
        return local.carry_out(run_id)


def _nothing(*_: object) -> None:
    """Print nothing, as a library does not write to the terminal."""
