"""Start commands of the product, and inject faults into their processes."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import psutil

from jarvis_workers.executors.local.children import CHILD_MODULE
from jarvis_workers.store.engine import Store
from jarvis_workers.store.runs import newest
from jarvis_workers.store.stages import progress
from jarvis_workers.store.values import StageProgress

PATIENCE_SECONDS = 60.0
PAUSE = threading.Event()
T = TypeVar("T")


def until(happens: Callable[[], T | None], seconds: float = PATIENCE_SECONDS) -> T:
    """Return the first true result of `happens`; fail after a timeout."""
    began = time.monotonic()
    while not (found := happens()):
        assert time.monotonic() < began + seconds * crowd(), f"waited {seconds:.0f} s in vain, times {crowd():.1f}"
        PAUSE.wait(0.005)
    return found


def crowd() -> float:
    """Return the slowdown compared with an idle machine without coverage measurement."""
    return max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1)) * (2.0 if sys.gettrace() else 1.0)


def is_scanner(process: psutil.Process) -> bool:
    """Return whether a process runs the module that scans."""
    try:
        return CHILD_MODULE in process.cmdline()
    except psutil.Error:
        return False


# What agents do without options is tested where it is asked for.
SEED_STAGES = {"JARVIS_AGENT__PROVE": "false", "JARVIS_AGENT__READ": "none", "JARVIS_AGENT__CANARY": "false"}


class Command:
    """A `jarvis` command that is running. `home` holds its data directory and its report."""

    def __init__(self, home: Path, *arguments: str, **settings: str) -> None:
        self.report = home / "report.json"
        environ = {name: value for name, value in os.environ.items() if not name.startswith("JARVIS_")}
        environ |= {"JARVIS_DATA_DIR": str(home / "data"), **SEED_STAGES} | settings
        self.process = subprocess.Popen(
            [sys.executable, "-m", "jarvis_cli", *arguments, "-o", str(self.report)],
            env=environ,
            cwd=home,
            stderr=subprocess.PIPE,
            text=True,
        )

    def children(self) -> list[psutil.Process]:
        """The children that scan; stopping one before its `exec` would block its parent."""
        try:
            found = psutil.Process(self.process.pid).children()
        except psutil.NoSuchProcess:
            return []
        return [child for child in found if is_scanner(child)]

    def frozen_child(self) -> psutil.Process:
        """Wait for a child, stop it, and return it."""
        child = until(lambda: next(iter(self.children()), None))
        child.send_signal(signal.SIGSTOP)
        return child

    def ends(self) -> tuple[int, str]:
        """Wait for the command to end; return the exit code and standard error."""
        _, said = self.process.communicate(timeout=PATIENCE_SECONDS * crowd())
        return self.process.returncode, said

    def body(self) -> Any:
        """The report without its `run` part."""
        report = json.loads(self.report.read_text())
        del report["run"]
        return report

    def run_part(self) -> Any:
        """The `run` part of the report."""
        return json.loads(self.report.read_text())["run"]


@contextmanager
def command(home: Path, *arguments: str, **settings: str) -> Iterator[Command]:
    """Run a command; remaining processes are killed at the end."""
    started = Command(home, *arguments, **settings)
    family = psutil.Process(started.process.pid)
    try:
        yield started
    finally:
        for child in family.children(recursive=True) if family.is_running() else []:
            child.kill()
        started.process.kill()
        started.process.communicate()


def scan_of(store: Store) -> StageProgress:
    """Return the progress of the scan of the newest run."""
    with store.read() as session:
        return progress(session, newest(session, 1)[0].id)[0]
