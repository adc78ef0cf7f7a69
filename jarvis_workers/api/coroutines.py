"""Scan from a coroutine: a thread and its child processes do the work without blocking the event loop."""

import asyncio
from contextlib import suppress

from jarvis_workers.api.choices import StrPath
from jarvis_workers.api.options import ScanOptions
from jarvis_workers.api.progress import CancelToken, ProgressCallback, ScanProgress
from jarvis_workers.api.report import Report
from jarvis_workers.api.scanning import DEFAULTS, SourceLanguage, scan, scan_text
from jarvis_workers.errors import ScanCancelled


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
