"""The settings of a new run: its selection of files, its limits, and its blob store. Avoids slow imports."""

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from secrets import token_hex
from types import MappingProxyType
from typing import Any, TypeVar

from jarvis_workers.option import check_values, values_of_settings
from jarvis_workers.pipeline.each_file import FileLimits
from jarvis_workers.pipeline.options import RunOptions
from jarvis_workers.private_files import make_private_directory
from jarvis_workers.runs.labels import automatic_labels
from jarvis_workers.runs.request import RunInput, RunRequest
from jarvis_workers.runs.sources import Origin, SourceTree
from jarvis_workers.settings import Settings
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.snapshots.resources import Resources, open_resources
from jarvis_workers.snapshots.selection import GIT_IGNORE, IGNORE_FILES, JARVIS_IGNORE, Selection

Options = TypeVar("Options", bound=RunOptions)
InputT = TypeVar("InputT", bound=RunInput)
NO_LABELS: Mapping[str, str] = MappingProxyType({})
RUST_SUFFIXES = frozenset({"rs"})


def blobs_of(settings: Settings) -> Blobs:
    """Open the blob store as `resources_of` does."""
    return resources_of(settings).blobs


def resources_of(settings: Settings) -> Resources:
    """Open blob store and caches; if the data directory must be created, only the user may access it."""
    with suppress(OSError):
        make_private_directory(settings.data_dir)
    cache = settings.data_dir / "cache"
    return open_resources(settings.effective_blobs_url, cache, results_bytes=settings.cache.max_bytes)


def file_limits_of(settings: Settings) -> FileLimits:
    """Return the limits per file; a batch stops early rather than exceed its hard time limit."""
    scan = settings.scan
    return FileLimits(scan.file_seconds, scan.file_memory_mb, scan.hard_limit_seconds / 2)


def options_of(settings: Settings, kind: type[Options], **more: Any) -> Options:
    """Return the options of a run from the settings, with `more` options of its kind. Raises UsageError."""
    return _checked(kind(**{**_values_of(settings, kind), **more}))


def with_settings(settings: Settings, options: Options, **more: Any) -> Options:
    """Return the options that a user gave, completed by the settings and `more` options. Raises UsageError."""
    values = _values_of(settings, type(options))
    return _checked(replace(options, **{**values, "cache": options.cache and values["cache"], **more}))


def _checked(options: Options) -> Options:
    check_values(options)
    return options


def _values_of(settings: Settings, kind: type[RunOptions]) -> dict[str, Any]:
    return {
        "batch_files": settings.scan.batch_files,
        "batch_bytes": int(settings.scan.batch_mb * 1_000_000),
        "processes": settings.process_count,
        "limits": file_limits_of(settings),
        "cache": settings.cache.max_mb > 0,
        **values_of_settings(settings, kind),
    }


def request_for(
    settings: Settings,
    source: SourceTree,
    kind: str,
    executor: str,
    scan_input: InputT,
    *,
    labels: Mapping[str, str] = NO_LABELS,
    globs: tuple[tuple[str, ...], tuple[str, ...]] = ((), ()),
) -> RunRequest[InputT]:
    """Return the request of a new run over a source; `labels` win over those of its branch and commit.

    `globs` are the patterns of files to include and to exclude.
    """
    return RunRequest(
        run_id=token_hex(4),
        kind=kind,
        path=source.path,
        root=source.root,
        selection=selection_of(settings, *globs, origin=source.origin),
        executor=executor,
        run_input=scan_input,
        source_url=settings.report.source_url,
        labels={**automatic_labels(source.path, source.branch, os.environ), **labels},
    )


def selection_of(
    settings: Settings,
    include: tuple[str, ...] = (),
    exclude: tuple[str, ...] = (),
    *,
    origin: Origin = "directory",
) -> Selection:
    """Return the selection of files to scan."""
    rust = "rust" in settings.scan.languages
    c = "c/cpp" in settings.scan.languages
    names = ignore_files_of(
        origin, use=settings.scan.use_ignore_files, of_addresses=settings.scan.jarvisignore_of_addresses
    )
    suffixes = [suffix for suffix in settings.scan.extensions if (rust if suffix in RUST_SUFFIXES else c)]
    return Selection(
        suffixes=frozenset(b"." + os.fsencode(suffix) for suffix in suffixes),
        exclude_dirs=frozenset(map(os.fsencode, settings.scan.exclude_dirs)),
        include=include,
        exclude=exclude,
        ignore_files=names if settings.scope.reads_jarvisignore else tuple(set(names) - {JARVIS_IGNORE}),
        max_file_bytes=int(settings.scan.max_file_mb * 1_000_000),
        follow_includes=c,
    )


def ignore_files_of(origin: Origin, *, use: bool, of_addresses: bool = False) -> tuple[str, ...]:
    """Return the ignore files to read; .gitignore does not apply to a git checkout, where all files are tracked."""
    if not use:
        return ()
    if origin == "directory":
        return IGNORE_FILES
    trusted = origin == "revision" or of_addresses
    return tuple(name for name in IGNORE_FILES if name != GIT_IGNORE) if trusted else ()
