"""A pool of child processes for scans of small trees: one scan per child at a time, then the child is reused."""

import json
import os
import selectors
import tempfile
import time
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from jarvis_workers import errors
from jarvis_workers.api.options import ScanOptions, encode_options
from jarvis_workers.api.progress import CancelToken, ProgressCallback, ScanProgress
from jarvis_workers.errors import JarvisError
from jarvis_workers.paths import as_text
from jarvis_workers.runs.sources import SourceTree
from jarvis_workers.toolchain.children import Child, ChildDied

if TYPE_CHECKING:
    from jarvis_workers.sec.runs.scan_input import Baseline

CHILD_MODULE = "jarvis_workers.api.child"
LOOK_SECONDS = 0.1
# The time limit of a batch in a command. After it the scan is repeated with a store, which isolates the slow file.
HARD_LIMIT_SECONDS = 300.0


class DirectRequest:
    """A scan for a child process: `source` is scanned, `place` is a private directory for it."""

    def __init__(
        self,
        options: ScanOptions,
        source: SourceTree,
        paths: tuple[bytes, ...],
        *,
        place: Path,
        cache: Path,
        results_bytes: int,
        baseline: "Baseline | None",
    ) -> None:
        self._path = place / "request.json"
        fields = {
            "options": encode_options(options),
            "root": as_text(os.fsencode(source.path.absolute())),
            "name": as_text(source.root),
            "paths": [as_text(path) for path in paths],
            "place": str(place),
            "cache": str(cache),
            "results_bytes": results_bytes,
            "baseline": {"counts": dict(baseline.counts), "facts": dict(baseline.facts)} if baseline else None,
        }
        self._path.write_text(json.dumps(fields), encoding="ascii")

    @property
    def line(self) -> bytes:
        return json.dumps({"request": str(self._path)}).encode("ascii")


class ChildPool:
    """A pool of idle child processes, one per concurrent scan. For one process; thread-safe."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self._idle: list[Child] = []
        self._lock = Lock()
        self._closed = False
        self._pid = os.getpid()

    def carry_out(
        self, request: DirectRequest, on_progress: ProgressCallback | None, cancel: CancelToken
    ) -> dict[str, Any] | None:
        """Return the answer, or None if a child cannot give one: the tree is too large, or the child has died.

        Raises the JarvisError of the child, ScanCancelled, and exceptions of the callback.
        """
        child, is_new = self._take()
        try:
            with ExitStack() as on_failure:
                on_failure.callback(child.kill)
                message = _converse(child, request, on_progress, cancel)
                on_failure.pop_all()
        except ChildDied:
            # An idle child may have died long ago, which says nothing about this scan: try a new one.
            return None if is_new else self.carry_out(request, on_progress, cancel)
        self._give_back(child)
        if "error" in message:
            kind, says = message["error"]
            raise getattr(errors, kind, JarvisError)(says)
        answer: dict[str, Any] | None = message.get("answer")
        return answer

    def close(self) -> None:
        """End the idle children; busy ones end after their scan."""
        with self._lock:
            self._closed, idle, self._idle = True, self._idle, []
        if self._pid == os.getpid():
            for child in idle:
                child.kill()

    def _take(self) -> tuple[Child, bool]:
        """Return a child, and whether it has just been started."""
        with self._lock:
            if self._pid != os.getpid():
                raise errors.UsageError(
                    "a ScanSession can only be used in the process that opened it; open one in each process"
                )
            if self._closed:
                raise errors.UsageError("the ScanSession is closed")
            if self._idle:
                return self._idle.pop(), False
        with tempfile.TemporaryFile() as nowhere:
            return Child(CHILD_MODULE, [], self._environ, nowhere), True

    def _give_back(self, child: Child) -> None:
        with self._lock:
            if not self._closed:
                self._idle.append(child)
                return
        child.kill()


def _converse(
    child: Child, request: DirectRequest, on_progress: ProgressCallback | None, cancel: CancelToken
) -> dict[str, Any]:
    """Return the last message of a child. Raises ChildDied if the child has died or exceeds the hard limit."""
    until = time.monotonic() + HARD_LIMIT_SECONDS
    with selectors.DefaultSelector() as selector:
        selector.register(child, selectors.EVENT_READ)
        child.send(request.line)
        while True:
            cancel.check()
            if time.monotonic() > until:
                child.kill()
                raise ChildDied("exceeded the hard limit")
            if not selector.select(LOOK_SECONDS):
                continue
            for message in map(json.loads, child.receive()):
                if "progress" not in message:
                    return dict(message)
                if on_progress:
                    on_progress(ScanProgress(*message["progress"]))
