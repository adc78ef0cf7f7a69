"""User-defined code (callbacks, tools, platforms): load its files, and call it without letting its exceptions escape.

Each file becomes a module with a unique name, so that two files called `my.py` do not collide and neither shadows a
library. A file that cannot be loaded is left out with a warning, which a foreground command tells its user.
"""

import importlib.util
import sys
from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import Any

from jarvis_workers.paths import plain
from jarvis_workers.telemetry import warning

MODULE_PREFIX = "jarvis_own_"
CALLBACK = "after_tool_call_cb"
# A report names no more.
LEFT_OUT_MAX = 100
LEFT_OUT_CHARACTERS = 500

LeaveOut = Callable[[Path, str], None]


class ForeignError(Exception):
    """User-defined code raised an exception, which is chained as the cause."""


def call_foreign(function: Callable[..., Any], what: str, *args: Any, **named: Any) -> Any:
    """Call user-defined code; `what` is its name in messages. Raises ForeignError for any exception of the code."""
    try:
        return function(*args, **named)
    except (Exception, SystemExit) as error:
        raise ForeignError(f"{what} failed: {type(error).__name__}: {error}") from error


def call_isolated(function: Callable[..., Any], what: str, failed: Callable[[str], None], /, **named: Any) -> Any:
    """Call user-defined code; of its exception, warn, call `failed` with a line about it, and return None."""
    try:
        return call_foreign(function, what, **named)
    except ForeignError as error:
        warning("plugin failed", says=str(error))
        failed(str(error))
        return None


def leave_out(path: Path, why: str) -> None:
    """Warn of a file that cannot be used."""
    warning("left out", path=str(path), says=why)


class LeftOutFiles:
    """Warns of each file that cannot be used, and collects a line about it for a report."""

    def __init__(self, lines: Iterable[str] = ()) -> None:
        self.lines = [*lines]

    def __call__(self, path: Path, why: str) -> None:
        leave_out(path, why)
        self.add(f"{path}: {why}")

    def add(self, line: str) -> None:
        """Add a line, unless it is there, or there are too many already."""
        shown = plain(line)[:LEFT_OUT_CHARACTERS]
        if shown not in self.lines and len(self.lines) < LEFT_OUT_MAX:
            self.lines.append(shown)


def load_files(directories: Iterable[Path], leave_out: LeaveOut = leave_out) -> Iterator[tuple[Path, ModuleType]]:
    """Load every Python file of the directories, in order; leave out those that cannot be loaded."""
    for directory in directories:
        for path in sorted(directory.expanduser().glob("*.py")):
            if path.name.startswith("_"):
                continue
            try:
                yield path, _load(path)
            except ForeignError as error:
                leave_out(path, str(error))


def after_tool_callbacks(directories: Iterable[Path], leave_out: LeaveOut = leave_out) -> Iterator[Callable[..., Any]]:
    """Yield listeners for AFTER_TOOL_CALL, each of which calls a user-defined callback with the agent.

    A file exports `after_tool_call_cb`, or else a function `get_after_tool_call_cb()` or
    `register_after_tool_call_cb()` that returns the callback.
    """
    for path, module in load_files(directories, leave_out):
        try:
            callback = _callback(module)
        except ForeignError as error:
            leave_out(path, str(error))
            continue
        if callable(callback):
            yield _with_agent(callback)
        else:
            leave_out(path, f"it has no function {CALLBACK}")


def _load(path: Path) -> ModuleType:
    name = MODULE_PREFIX + path.stem + "_" + sha256(str(path.absolute()).encode("utf-8", "replace")).hexdigest()[:8]
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        call_foreign(spec.loader.exec_module, "loading it", module)
    except ForeignError:
        del sys.modules[name]
        raise
    return module


def _callback(module: ModuleType) -> Any:
    if hasattr(module, CALLBACK):
        return getattr(module, CALLBACK)
    for make in (f"get_{CALLBACK}", f"register_{CALLBACK}"):
        if callable(getattr(module, make, None)):
            return call_foreign(getattr(module, make), f"{make}()")
    return None


def _with_agent(callback: Callable[..., Any]) -> Callable[..., Any]:
    def listener(agent: Any, **_: Any) -> None:
        callback(agent)

    return listener
