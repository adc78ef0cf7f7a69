"""Children: what they see, how they talk, and how their end is told."""

import json
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO

import pytest

from jarvis_workers.errors import JarvisError
from jarvis_workers.toolchain.children import PASSED_VARIABLES, Child, ChildDied, child_environment

pytestmark = pytest.mark.timing

ECHO = """
import sys
for line in sys.stdin.buffer:
    sys.stdout.buffer.write(line.upper())
    sys.stdout.buffer.flush()
"""
TELL = """
import json, os, sys
print(json.dumps({"environ": dict(os.environ), "path": sys.path, "session": os.getsid(0)}), flush=True)
sys.stdin.read()
"""
Start = Callable[..., Child]


@pytest.fixture
def errors() -> Iterator[IO[bytes]]:
    with tempfile.TemporaryFile() as stream:
        yield stream


@pytest.fixture
def start(tmp_path: Path, errors: IO[bytes]) -> Iterator[Start]:
    """Start a module with the text given; every child is ended after the test."""
    children: list[Child] = []

    def start_one(text: str, *arguments: str, environ: Mapping[str, str] | None = None) -> Child:
        folder = tmp_path / "modules"
        folder.mkdir(exist_ok=True)
        (folder / "sample_child.py").write_text(text)
        seen = {"PATH": os.environ["PATH"], "PYTHONPATH": str(folder), **(environ or {})}
        children.append(Child("sample_child", arguments, seen, errors))
        return children[-1]

    yield start_one
    for child in children:
        child.kill()


def hear(child: Child, lines: int = 1) -> list[bytes]:
    heard: list[bytes] = []
    while len(heard) < lines:
        heard += child.receive()
    return heard


def hear_the_end(child: Child) -> str:
    with pytest.raises(ChildDied) as death:
        while True:
            child.receive()
    return str(death.value)


def test_a_child_sees_no_keys_no_passwords_and_no_settings(start: Start) -> None:
    secret = {"OPENAI_API_KEY": "sk-1", "JARVIS_STORE_URL": "postgresql://me:pw@host/db", "LD_PRELOAD": "", "TZ": "UTC"}
    seen = json.loads(hear(start(TELL, environ=secret))[0])["environ"]

    assert seen["TZ"] == "UTC"
    assert not seen.keys() & {"OPENAI_API_KEY", "JARVIS_STORE_URL", "LD_PRELOAD"}


def test_an_environment_is_filtered_by_name() -> None:
    others = ["COVERAGE_PROCESS_START", "JARVIS_MODEL", "AWS_SECRET_ACCESS_KEY", "PATHS"]
    environ = dict.fromkeys([*PASSED_VARIABLES, *others], "x")

    assert set(child_environment(environ)) == {*PASSED_VARIABLES, "COVERAGE_PROCESS_START"}


def test_lines_come_back_however_they_are_cut(start: Start) -> None:
    child = start(ECHO)
    child.send(b"one")
    assert hear(child) == [b"ONE"]

    child.send(b"two\nthree")
    child.send(b"")
    assert hear(child, 3) == [b"TWO", b"THREE", b""]


def test_a_line_longer_than_a_pipe_arrives_whole(start: Start) -> None:
    child = start(
        "import sys\nsys.stdout.write('x' * int(sys.argv[1]) + '\\n')\nsys.stdout.flush()\nsys.stdin.read()", "999999"
    )

    assert hear(child) == [b"x" * 999999]


def test_a_killed_child_is_told_by_the_name_of_its_signal(start: Start) -> None:
    child = start(ECHO)
    child.send(b"there")
    hear(child)
    os.kill(child.pid, signal.SIGKILL)

    assert hear_the_end(child) == "killed by SIGKILL"


def test_a_child_that_gives_up_is_told_by_its_code(start: Start) -> None:
    assert hear_the_end(start("import sys; sys.exit(7)")) == "exited with code 7"


def test_nobody_reads_what_is_sent_to_a_dead_child(start: Start) -> None:
    child = start("import sys; sys.stdin.close(); print(); sys.stdout.flush(); sys.exit(3)")
    hear(child)
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)

    with pytest.raises(ChildDied, match="exited with code 3"):
        child.send(b"work")


def test_a_child_ends_when_its_input_is_closed(start: Start) -> None:
    child = start(ECHO)
    child.close()

    with pytest.raises(ProcessLookupError):
        os.kill(child.pid, 0)


def test_a_child_that_does_not_listen_is_killed(start: Start) -> None:
    child = start("import time\nprint(flush=True)\ntime.sleep(600)")
    hear(child)
    child.kill()

    with pytest.raises(ProcessLookupError):
        os.kill(child.pid, 0)


@pytest.mark.slow
def test_a_child_that_does_not_end_when_it_is_asked_to_is_killed(start: Start) -> None:
    """It is waited for 5 s."""
    child = start("import time\nprint(flush=True)\ntime.sleep(600)")
    hear(child)
    child.close()

    with pytest.raises(ProcessLookupError):
        os.kill(child.pid, 0)


def test_an_interpreter_that_cannot_be_started_is_told(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/no/such/python")

    with pytest.raises(JarvisError, match="/no/such/python: cannot be started: No such file"):
        start(ECHO)


def test_a_child_is_in_a_session_of_its_own(start: Start) -> None:
    """Ctrl-C reaches the parent alone."""
    child = start(TELL)

    assert json.loads(hear(child)[0])["session"] == child.pid


def test_a_module_in_the_current_directory_does_not_shadow_the_standard_library(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scanned = tmp_path / "scanned"
    scanned.mkdir()
    (scanned / "json.py").write_text("raise SystemExit('the scanned tree was imported')")
    monkeypatch.chdir(scanned)
    told = json.loads(hear(start(TELL))[0])

    assert str(scanned) not in told["path"]
    assert "" not in told["path"]


def test_what_a_child_says_on_standard_error_is_kept_apart(start: Start, errors: IO[bytes]) -> None:
    child = start("import sys\nprint('oh', file=sys.stderr)\nprint('well', flush=True)\nsys.stdin.read()")

    assert hear(child) == [b"well"]
    child.close()
    errors.seek(0)
    assert errors.read().strip() == b"oh"


def test_a_child_runs_our_own_interpreter(start: Start) -> None:
    child = start("import sys\nprint(sys.executable, flush=True)\nsys.stdin.read()")

    assert hear(child) == [os.fsencode(sys.executable)]
