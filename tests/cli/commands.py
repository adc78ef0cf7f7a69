"""Run `jarvis` as a user does, in this process or in a child, with a separate directory and store."""

import ctypes
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from jarvis_cli.kit.app import Frame
from jarvis_cli.main import run
from jarvis_workers.runs import wiring
from jarvis_workers.runs.health.process_identity import this_worker
from jarvis_workers.runs.request import RunRequest
from jarvis_workers.runs.scan_request import blobs_of, selection_of
from jarvis_workers.runs.submit import submit
from jarvis_workers.sec.runs.scan_input import ScanInput
from jarvis_workers.sec.stages.options import SecOptions
from jarvis_workers.settings import Settings, load_settings
from jarvis_workers.store import runs, workers

COPY = "void f(char *a, char *b) { strcpy(a, optarg); }\n"
SYSTEM = 'int g(char *s) { return system(s) + sscanf(s, "%s", s); }\n'
UNSAFE = "fn f(p: *const u8) -> u8 { unsafe { *p } }\n"

# Two messages that were joined with the punctuation of both.
JOINED = re.compile(r"""[\w)"'][.:;,] ?;|: ?:\s|\w\.\.(?:\s|$)""", re.MULTILINE)

DROP_FROM_BOUNDING_SET = 24
READS_AND_WRITES_ANYTHING = (1, 2)


def scanned_data(place: Path, tree: str, template: Path) -> Path:
    """Scan a tree of `place` in this process, with a copy of the empty store `template`; return its data directory."""
    data = place / "data"
    data.mkdir()
    shutil.copyfile(template, data / "jarvis.db")
    with pytest.MonkeyPatch.context() as environment:
        for name in [name for name in os.environ if name.startswith("JARVIS_")]:
            environment.delenv(name)
        environment.setenv("JARVIS_DATA_DIR", str(data))
        environment.setenv("JARVIS_PROCESSES", "0")
        environment.setenv("JARVIS_AGENT__PROVE", "false")
        environment.setenv("JARVIS_AGENT__CANARY", "false")
        environment.chdir(place)
        assert run(["sec", "fast", "-q", "-p", tree, "-o", os.devnull]) == 0
    return data


@dataclass(frozen=True)
class Ended:
    """The exit code and the output of a command."""

    code: int
    out: str
    err: str

    @property
    def line(self) -> str:
        """The only line of its output, which is not a traceback."""
        assert self.err.count("\n") == 1, self.err
        assert "Traceback" not in self.err
        assert "internal error" not in self.err
        assert not JOINED.search(self.err), self.err
        return self.err.rstrip("\n")


@dataclass
class Jarvis:
    """Commands in `place`, the current directory; their store is beside it."""

    place: Path
    capfd: pytest.CaptureFixture[str]

    def __call__(self, *args: object, **options: Any) -> Ended:
        self.capfd.readouterr()
        code = run([str(arg) for arg in args], **options)
        out, err = self.capfd.readouterr()
        return Ended(code, out, err)

    def sec(self, *args: object, **options: Any) -> Ended:
        """Run `jarvis-sec`."""
        return self(*args, command="sec", prog="jarvis-sec", frame=Frame(default_output=Path("report.md")), **options)

    def spawn(self, *args: object, **options: Any) -> Ended:
        """Run in a child process; other arguments are those of `subprocess`."""
        command = [sys.executable, "-m", "jarvis_cli", *map(str, args)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, **_with_a_child(options))
        return Ended(done.returncode, done.stdout, done.stderr)

    def start(self, *args: object, **options: Any) -> "subprocess.Popen[bytes]":
        """Start in a child process without waiting for it."""
        return subprocess.Popen([sys.executable, "-m", "jarvis_cli", *map(str, args)], **_with_a_child(options))

    def tree(self, name: str, files: dict[str, str | bytes]) -> Path:
        """Write a tree of files."""
        for path, content in files.items():
            file = self.place / name / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content.encode() if isinstance(content, str) else content)
        return self.place / name

    @property
    def settings(self) -> Settings:
        return load_settings(directory=self.place)

    def submit(self, tree: Path, *, paused: bool = False, alive: bool = False, **options: Any) -> str:
        """Submit a run that is not executed: its command has ended, unless `alive`, or it is paused."""
        worker = this_worker("test", 1)
        settings = self.settings
        with wiring.store_of(settings) as store:
            request = RunRequest(
                run_id=os.urandom(4).hex(),
                kind="sec.fast",
                path=tree,
                selection=selection_of(settings),
                executor=f"local:{worker.id}" if alive else "local:gone-1-0",
                run_input=ScanInput(
                    SecOptions(min_confidence=0.4, batch_files=1, batch_bytes=1 << 20, processes=1, **options)
                ),
            )
            run_id = submit(store, blobs_of(settings), request)
            with store.write() as session:
                if alive:
                    workers.touch(session, worker)
                if paused:
                    runs.pause(session, run_id, "interrupted")
        return run_id


def _with_a_child(options: dict[str, Any]) -> dict[str, Any]:
    """Let a command in a child process scan as users' commands do."""
    return {**options, "env": {**(options.get("env") or os.environ), "JARVIS_PROCESSES": "1"}}


def obey_modes() -> Callable[[], None] | None:
    """Return a `preexec_fn` that makes a process respect file modes, even for root. Skips the test if that fails."""
    if os.geteuid() != 0:
        return None
    libc = ctypes.CDLL(None, use_errno=True)

    def drop() -> None:
        for power in READS_AND_WRITES_ANYTHING:
            if libc.prctl(DROP_FROM_BOUNDING_SET, power, 0, 0, 0):
                raise PermissionError

    try:
        subprocess.run(["true"], preexec_fn=drop, check=True)
    except subprocess.SubprocessError:
        pytest.skip("root cannot give up its powers here")
    return drop
