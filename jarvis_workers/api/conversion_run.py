"""Move a C project to Rust from Python, on this machine: `apply_library_replacement`, `run_transpile`."""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from jarvis_workers.api.silent_run import run_silently, say_nothing
from jarvis_workers.api.symbol_files import symbol_place
from jarvis_workers.api.user_settings import local_settings
from jarvis_workers.c2rust.runs.conversion_files import SYMBOL_MAP, export_conversion, write_crate
from jarvis_workers.c2rust.runs.conversion_request import ConversionRequest, require_model, require_tools
from jarvis_workers.c2rust.runs.conversion_results import outcome
from jarvis_workers.c2rust.runs.crate_directory import check_target, crate_name
from jarvis_workers.c2rust.runs.fast_run import FastInput, compiled_request
from jarvis_workers.c2rust.runs.project_files import SYMBOLS, directory_of
from jarvis_workers.c2rust.runs.replacement_results import ReplacementResult
from jarvis_workers.c2rust.runs.replacement_run import ReplaceInput, replace_request
from jarvis_workers.c2rust.stages.options import TranslateOptions
from jarvis_workers.c2rust.stages.prune_symbols import REPLACEMENTS
from jarvis_workers.c2rust.stages.replace_options import ReplaceOptions
from jarvis_workers.errors import UsageError
from jarvis_workers.runs.atomic_write import write_whole
from jarvis_workers.runs.request import RunRequest
from jarvis_workers.runs.sources import SourceTree
from jarvis_workers.settings import Settings

StrPath = str | os.PathLike[str]


@dataclass(frozen=True, slots=True)
class PrunedProject:
    """A project without what libraries replace: its symbols and replacements as files, and what was not judged."""

    symbols: Path
    mapping: Path
    run_id: str
    replaced: int
    pruned: int
    not_checked: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TranslatedCrate:
    """A crate: its directory, symbol_map.jsonl, and the outcome in one line; `complete` if nothing is unproven."""

    crate: Path
    symbol_map: Path
    run_id: str
    summary: str
    complete: bool


def apply_library_replacement(  # noqa: PLR0913, PLR0917 - the names and their order are those of the original
    db_path: StrPath = ".",
    library_name: str | None = None,
    llm_group: str | None = None,
    candidates: Iterable[str] = (),
    out_symbols_path: StrPath | None = None,
    out_mapping_path: StrPath | None = None,
    max_funcs: int | None = None,
    disabled_libraries: Iterable[str] = (),
    resume: bool = True,
) -> PrunedProject:
    """Replace functions by libraries as `jarvis c2rust lib-replace` does, and write the files of the project.

    `candidates` are the roots.  The symbols and the replacements are also written to the other paths, if given.
    Raises UsageError.
    """
    settings, root = local_settings(), symbol_place(db_path)[1]
    options = ReplaceOptions(
        model_group=llm_group,
        roots=list(candidates),
        library=library_name,
        disabled=list(disabled_libraries),
        max_functions=max_funcs,
    )

    def request(source: SourceTree, executor: str) -> RunRequest[ReplaceInput]:
        return replace_request(settings, source, executor, options, say_nothing, resume=resume)

    with run_silently(settings, root, request) as (_, store, blobs, run):
        result = ReplacementResult(store, blobs, run)
        result.export()
        counts, gaps = result.counts, tuple(result.not_checked)
    symbols, mapping = (directory_of(root) / name for name in (SYMBOLS, REPLACEMENTS))
    for path, other in ((symbols, out_symbols_path), (mapping, out_mapping_path)):
        if other is not None:
            write_whole(Path(other), [path.read_text()])
    replaced, pruned = (counts.replaced, counts.pruned) if counts else (0, 0)
    return PrunedProject(symbols, mapping, run.id, replaced, pruned, gaps)


def run_transpile(
    project_root: StrPath = ".",
    crate_dir: StrPath | None = None,
    llm_group: str | None = None,
    only: Iterable[str] = (),
    max_retries: int = 5,
    *,
    build: str | None = None,
    tests: Iterable[str] = (),
    configure: str | None = None,
) -> TranslatedCrate:
    """Translate a C project by a model as `jarvis c2rust transpile` does, and write its crate.

    `build`, `tests` and `configure` are commands; by default, the crate is `<project_root>_rs`.  Raises UsageError.
    """
    settings, root = local_settings(), Path(project_root).resolve()
    crate = Path(crate_dir) if crate_dir is not None else root.with_name(f"{root.name}_rs")
    group = require_model(settings, llm_group)
    options = TranslateOptions(
        configure=configure,
        build=build,
        tests=list(tests),
        only=list(only),
        crate=crate_name(crate),
        model_group=group,
        max_retries=max_retries,
    )
    if options.tests and not build:
        raise UsageError("tests require the build, the command that builds the programs under test")
    require_tools(settings)
    check_target(crate)
    return _translated(settings, root, crate, options)


def _translated(settings: Settings, root: Path, crate: Path, options: TranslateOptions) -> TranslatedCrate:
    def request(source: SourceTree, executor: str) -> RunRequest[FastInput]:
        return compiled_request(ConversionRequest(options=options), settings, source, executor)

    with run_silently(settings, root, request) as (_, store, blobs, run):
        write_crate(store, blobs, run, crate)
        export_conversion(store, blobs, run)
        line = outcome(store, blobs, run)
    return TranslatedCrate(crate, directory_of(root) / SYMBOL_MAP, run.id, line, run.state == "done")
