"""Scan from Python: files, trees and text.

Small trees and text are scanned completely by a child process, without a store. All other scans use a results store as
the command line does, which is private unless the caller wants the run recorded.
"""

import asyncio
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path, PurePosixPath
from types import TracebackType
from typing import TYPE_CHECKING, Literal, Self

from jarvis_workers.api.choices import StrPath
from jarvis_workers.api.direct import ChildPool, DirectRequest
from jarvis_workers.api.options import ScanOptions
from jarvis_workers.api.progress import CancelToken, ProgressCallback, ScanProgress
from jarvis_workers.api.report import Report, report_from
from jarvis_workers.errors import ScanCancelled, UsageError
from jarvis_workers.paths import leaves_the_root, plain
from jarvis_workers.runs.sources import SourceTree, is_address
from jarvis_workers.runs.targets import ScanTarget, target_of
from jarvis_workers.toolchain.temporary import temporary_directory

if TYPE_CHECKING:
    from jarvis_workers.sec.runs.scan_input import Baseline


SourceLanguage = Literal["c", "c++", "rust"]
NAMES: Mapping[str, str] = {"c": "input.c", "c++": "input.cpp", "rust": "input.rs"}
TEMPORARY = "jarvis-scan"
# The root shown in reports for sources that are not on disk.
NO_ROOT = b"<text>"
RESULTS_BYTES = 500_000_000
DEFAULTS = ScanOptions()


class ScanSession:
    """Scans with the same options, reusing its child processes, so that the second scan starts at once.

    A context manager. Thread-safe; another process, including a forked one, must open its own session.
    """

    def __init__(self, options: ScanOptions = DEFAULTS) -> None:
        if not isinstance(options, ScanOptions):
            raise UsageError(f"options is a {type(options).__name__}; give a ScanOptions")
        self.options = options
        self._children = ChildPool(os.environ)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """End the idle child processes."""
        self._children.close()

    def scan(
        self,
        *paths: StrPath,
        root: StrPath | None = None,
        on_progress: ProgressCallback | None = None,
        cancel: CancelToken | None = None,
    ) -> Report:
        """Scan as the function `scan` does."""
        target = target_of([_path("paths", path) for path in paths], None if root is None else _path("root", root))
        with temporary_directory(TEMPORARY) as place:
            return self._scan(target, None, place, on_progress, cancel or CancelToken())

    def scan_text(
        self,
        source: str | bytes,
        *,
        language: SourceLanguage = "c",
        filename: str | None = None,
        on_progress: ProgressCallback | None = None,
        cancel: CancelToken | None = None,
    ) -> Report:
        """Scan as the function `scan_text` does."""
        if language not in NAMES:
            raise UsageError(f'language: "{plain(str(language))}" is not one of {", ".join(NAMES)}')
        return self.scan_sources({filename or NAMES[language]: source}, on_progress=on_progress, cancel=cancel)

    def scan_sources(
        self,
        files: Mapping[str, str | bytes],
        *,
        on_progress: ProgressCallback | None = None,
        cancel: CancelToken | None = None,
    ) -> Report:
        """Scan as the function `scan_sources` does."""
        _check_sources(files)
        if self.options.write_artifacts or self.options.since is not None:
            raise UsageError(
                "write_artifacts and since require a directory on disk; they cannot be used when scanning text"
            )
        with temporary_directory(TEMPORARY) as place:
            for name, source in files.items():
                _write(place / "tree", name, source)
            target = ScanTarget(str(place / "tree"), tuple(sorted(os.fsencode(name) for name in files)))
            return self._scan(target, NO_ROOT, place, on_progress, cancel or CancelToken())

    def _scan(
        self,
        target: ScanTarget,
        name: bytes | None,
        place: Path,
        on_progress: ProgressCallback | None,
        cancel: CancelToken,
    ) -> Report:
        cancel.check()
        answer = None
        if self._is_direct(target):
            answer = self._children.carry_out(self._request(target, name, place), on_progress, cancel)
        if answer is None:
            from jarvis_workers.api.recorded import scan_with_store  # noqa: PLC0415  (a database is slow)

            answer = scan_with_store(self.options, target, name, place, on_progress, cancel)
        # The scan may have ended before it noticed the cancellation.
        cancel.check()
        return report_from(answer)

    def _is_direct(self, target: ScanTarget) -> bool:
        """Return whether a child process can execute the scan, provided that the tree is small."""
        options = self.options
        if options.record or options.write_artifacts or options.since:
            return False
        return not (is_address(target.root) or (options.baseline is not None and _is_revision(options)))

    def _request(self, target: ScanTarget, name: bytes | None, place: Path) -> DirectRequest:
        options, tree = self.options, Path(target.root)
        return DirectRequest(
            options,
            SourceTree(tree, name or os.fsencode(tree.absolute())),
            target.paths,
            place=place,
            cache=_cache_directory(options) if options.cache else place / "cache",
            results_bytes=RESULTS_BYTES if options.cache else 0,
            baseline=None if options.baseline is None else _reported(options, target),
        )


def scan(
    *paths: StrPath,
    options: ScanOptions = DEFAULTS,
    root: StrPath | None = None,
    on_progress: ProgressCallback | None = None,
    cancel: CancelToken | None = None,
) -> Report:
    """Scan files and directories (default: the current directory), or one git URL, and return the report.

    Paths in the report are relative to `root`. By default this is the directory given; for a file or several paths it
    is the current directory if it contains all of them, else their deepest common directory. `on_progress` is called in
    this thread during the scan; an exception in it ends the scan.

    Raises JarvisError: UsageError for invalid paths and options, ScanCancelled within a second of `cancel.cancel()`,
    SnapshotError for an unreadable tree.
    """
    with ScanSession(options) as session:
        return session.scan(*paths, root=root, on_progress=on_progress, cancel=cancel)


def scan_text(
    source: str | bytes,
    *,
    language: SourceLanguage = "c",
    filename: str | None = None,
    options: ScanOptions = DEFAULTS,
    on_progress: ProgressCallback | None = None,
    cancel: CancelToken | None = None,
) -> Report:
    """Scan the text of one file. `filename` is its name in the report, and its suffix determines the language."""
    with ScanSession(options) as session:
        return session.scan_text(source, language=language, filename=filename, on_progress=on_progress, cancel=cancel)


def scan_sources(
    files: Mapping[str, str | bytes],
    *,
    options: ScanOptions = DEFAULTS,
    on_progress: ProgressCallback | None = None,
    cancel: CancelToken | None = None,
) -> Report:
    """Scan several files, given as {name: text}, together: calls between them are followed."""
    with ScanSession(options) as session:
        return session.scan_sources(files, on_progress=on_progress, cancel=cancel)


def _check_sources(files: object) -> None:
    """Raise UsageError for anything but texts or bytes by name."""
    if not isinstance(files, Mapping):
        raise UsageError(f"files is a {type(files).__name__}; give a mapping of file names to texts or bytes")
    for name, source in files.items():
        if not isinstance(name, str):
            raise UsageError(f"files: a name is a {type(name).__name__}; give a text")
        if not isinstance(source, str | bytes):
            raise UsageError(f'files: "{plain(name)}" is a {type(source).__name__}; give a text or bytes')


def _path(name: str, path: object) -> str:
    """Return a path as a text. Raises UsageError for a value of another type."""
    if not isinstance(path, str | os.PathLike):
        raise UsageError(f"{name} is a {type(path).__name__}; give a path")
    return os.fsdecode(path)


def _write(tree: Path, name: str, source: str | bytes) -> None:
    """Write a file below the tree. Raises UsageError for a name that leads out of it."""
    if leaves_the_root(os.fsencode(name)):
        raise UsageError(f'filename: "{plain(name)}" is not a relative path below a root')
    path = tree / PurePosixPath(name)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(source.encode("utf-8", "surrogateescape") if isinstance(source, str) else source)
    except UnicodeEncodeError as error:
        raise UsageError(f'filename: "{plain(name)}": its text contains a lone surrogate; give bytes') from error
    except OSError as error:
        raise UsageError(f'filename: "{plain(name)}": {error.strerror}') from error


def _is_revision(options: ScanOptions) -> bool:
    from jarvis_workers.api.baseline import is_revision  # noqa: PLC0415  (the rules are slow to import)

    return is_revision(options)


def _reported(options: ScanOptions, target: ScanTarget) -> "Baseline | None":
    from jarvis_workers.api.baseline import reported_baseline  # noqa: PLC0415  (as above)

    return reported_baseline(options, target)


def _cache_directory(options: ScanOptions) -> Path:
    """Return the directory of the result cache, which is shared with the command line."""
    if options.data_directory is not None:
        return Path(options.data_directory) / "cache"
    import platformdirs

    return Path(platformdirs.user_data_dir("jarvis-workers")) / "cache"


# Scan from a coroutine: a thread and its child processes do the work without blocking the event loop.


async def scan_async(
    *paths: StrPath,
    options: ScanOptions = DEFAULTS,
    root: StrPath | None = None,
    on_progress: ProgressCallback | None = None,
    cancel: CancelToken | None = None,
) -> Report:
    """Run `scan` without blocking the event loop; cancelling the task ends the scan within a second.

    `on_progress` is called in the thread of the loop.
    """
    token, tell = CancelToken(cancel), _in_loop(on_progress)
    work = asyncio.to_thread(scan, *paths, options=options, root=root, on_progress=tell, cancel=token)
    return await _finish(asyncio.ensure_future(work), token)


async def scan_text_async(
    source: str | bytes,
    *,
    language: SourceLanguage = "c",
    filename: str | None = None,
    options: ScanOptions = DEFAULTS,
    cancel: CancelToken | None = None,
) -> Report:
    """Run `scan_text` without blocking the event loop."""
    token = CancelToken(cancel)
    work = asyncio.to_thread(scan_text, source, language=language, filename=filename, options=options, cancel=token)
    return await _finish(asyncio.ensure_future(work), token)


async def _finish(work: "asyncio.Future[Report]", token: CancelToken) -> Report:
    """Wait for the thread even if the task is cancelled: it ends and cleans up within a second."""
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        token.cancel()
        with suppress(ScanCancelled):
            await work
        raise


def _in_loop(on_progress: ProgressCallback | None) -> ProgressCallback | None:
    if on_progress is None:
        return None
    loop, tell = asyncio.get_running_loop(), on_progress

    def pass_on(event: ScanProgress) -> None:
        loop.call_soon_threadsafe(tell, event)

    return pass_on
