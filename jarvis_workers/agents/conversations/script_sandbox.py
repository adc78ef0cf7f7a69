"""The sandbox for the scripts of a conversation, opened for the first script and closed with the conversation."""

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from jarvis_workers.agents.tools.tool import ToolOutcome
from jarvis_workers.errors import SandboxError
from jarvis_workers.sandbox.confine import WORK
from jarvis_workers.sandbox.launcher import Starter
from jarvis_workers.sandbox.limits import SandboxLimits, Tier
from jarvis_workers.sandbox.sandbox import DEFAULT_LIMITS, Sandbox, best_tier

INTERPRETERS: Mapping[str, Sequence[str]] = {"bash": ("bash", "-s"), "sh": ("sh", "-s"), "python3": ("python3", "-")}
# Concurrent scripts beyond one per core, since scripts also wait for I/O.
EXTRA_SCRIPTS = 4


class SandboxedScripts:
    """Runs scripts (`agents.tools.scripting.ScriptRunner`); `slots` limits the concurrent scripts of this process."""

    def __init__(
        self, make: Callable[[], Sandbox], slots: threading.BoundedSemaphore, limits: SandboxLimits = DEFAULT_LIMITS
    ) -> None:
        self._make, self._slots, self._limits = make, slots, limits
        self._lock = threading.Lock()
        self._sandbox: Sandbox | None = None
        self._is_closed = False

    def __call__(self, interpreter: str, script: str) -> ToolOutcome:
        """Run a script; a failure of the sandbox is an outcome with the state "error", not an exception."""
        with self._slots:
            try:
                return _run(self._open(), interpreter, script, self._limits)
            except SandboxError as error:
                return ToolOutcome("error", stderr=str(error))

    def close(self) -> None:
        with self._lock:
            self._is_closed = True
            if self._sandbox:
                self._sandbox.close()

    def _open(self) -> Sandbox:
        """Return the sandbox; raises SandboxError after `close`, since a new sandbox would never be closed."""
        with self._lock:
            if self._is_closed:
                raise SandboxError("the conversation has ended")
            self._sandbox = self._sandbox or self._make()
            return self._sandbox


class ScriptSandboxes:
    """The sandboxes of one process. Create it before any thread starts, since it forks a process.

    At most one script per core plus EXTRA_SCRIPTS run concurrently, so that each makes progress within its time limit.
    On tier C there is no sandbox, and no `starter` of sandboxes.
    """

    def __init__(self) -> None:
        self.tier = best_tier()
        self.starter = Starter() if self.tier != Tier.C else None
        self.slots = threading.BoundedSemaphore((os.cpu_count() or 1) + EXTRA_SCRIPTS)

    def close(self) -> None:
        if self.starter:
            self.starter.close()

    def open(self, root: Path) -> SandboxedScripts | None:
        """Return a runner of scripts over a directory, which they may read; None without a sandbox. Close it."""
        if self.tier == Tier.C:
            return None
        return SandboxedScripts(lambda: Sandbox(str(root.resolve()), self.tier, self.starter), self.slots)

    def open_workspace(self, place: Path, limits: SandboxLimits) -> SandboxedScripts | None:
        """Return a runner of scripts in `place`/WORK, which they may change; None without a sandbox. Close it."""
        if self.tier == Tier.C:
            return None
        root = str((place / WORK).resolve())
        return SandboxedScripts(lambda: Sandbox(root, self.tier, self.starter, workspace=place), self.slots, limits)


def _run(sandbox: Sandbox, interpreter: str, script: str, limits: SandboxLimits) -> ToolOutcome:
    ended = sandbox.run(INTERPRETERS[interpreter], stdin=script.encode("utf-8", "replace"), limits=limits)
    out, err = (output.decode("utf-8", "backslashreplace") for output in (ended.stdout, ended.stderr))
    if ended.reason:
        err = f"{err.rstrip()}\nended: {ended.reason}".lstrip("\n")
    return ToolOutcome("done" if ended.code == 0 and not ended.reason else "failed", out, err, ended.code)
