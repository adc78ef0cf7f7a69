"""Execute local runs in a thread, for a server in which users resume and retry runs."""

import threading
from collections.abc import Callable
from concurrent.futures import Future

from jarvis_workers import telemetry
from jarvis_workers.errors import JarvisError, ScanCancelled, UsageError
from jarvis_workers.runs import runs
from jarvis_workers.runs.wiring import executor_of
from jarvis_workers.settings import Settings
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Run

STOP_SECONDS = 20.0


class BackgroundRuns:
    """Executes the runs of a server; thread-safe."""

    def __init__(self, settings: Settings, store: Store) -> None:
        self._settings = settings
        self._store = store
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None

    def resume(self, run: Run) -> None:
        """Resume a run: here if it is local, else by the workers. Raises UsageError."""
        lease = self._settings.lease_seconds
        self._take_up(run, lambda executor: runs.resume(self._store, run, executor, lease))

    def retry(self, run: Run) -> None:
        """Retry the failed jobs of an ended run, in the same place as `resume`. Raises UsageError."""
        self._take_up(run, lambda executor: runs.retry(self._store, run, executor))

    def close(self) -> None:
        """Pause the run that is being executed, and wait for it."""
        self._stopping.set()
        thread = self._thread
        if thread:
            thread.join(STOP_SECONDS)

    def wait(self) -> None:
        """Wait until the run that is being executed has ended."""
        thread = self._thread
        if thread:
            thread.join()

    def _take_up(self, run: Run, take_up: Callable[[str], object]) -> None:
        if not runs.is_local(run):
            take_up(run.executor)
            return
        begun: Future[None] = Future()
        with self._lock:
            if self._thread and self._thread.is_alive():
                raise UsageError("this server is executing another run; try again when it has ended")
            self._thread = threading.Thread(target=self._execute, args=(run, take_up, begun), name="run", daemon=True)
            self._thread.start()
        begun.result()

    def _execute(self, run: Run, take_up: Callable[[str], object], begun: "Future[None]") -> None:
        try:
            with executor_of(self._settings, self._store, tell=_tell, show=self._show) as local:
                take_up(local.executor)
                begun.set_result(None)
                local.carry_out(run.id)
        except JarvisError as error:
            if begun.done():
                _tell(f"run {run.id}: {error}")
            else:
                begun.set_exception(error)
        finally:
            if not begun.done():
                begun.set_exception(JarvisError(f"run {run.id} could not be started; see the log of the server"))

    def _show(self, *_: object) -> None:
        if self._stopping.is_set():
            raise ScanCancelled("the server was stopped")


def _tell(says: str) -> None:
    telemetry.warning("web", says=says)
