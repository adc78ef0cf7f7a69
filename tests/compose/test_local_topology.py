"""deploy/local-topology.sh: the services without containers, as a user starts and stops them."""

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.chaos.commands import PATIENCE_SECONDS, crowd, until
from tests.compose.compose_file import ROOT
from tests.support.servers import free_port, missing, postgres_binaries, redis_binary

pytestmark = [pytest.mark.slow, pytest.mark.timing]

LOCK = "requirements-image.lock"
PORTS = ("REDIS_PORT", "WEB_PORT", "FLOWER_PORT", "METRICS_PORT", "WORKER_METRICS_PORT", "PROMETHEUS_PORT")


@pytest.fixture
def home() -> Iterator[Path]:
    """A directory that PostgreSQL's user can enter."""
    if postgres_binaries() is None or redis_binary() is None:
        missing("PostgreSQL or redis-server")
    with tempfile.TemporaryDirectory(prefix="jarvis-topology-", ignore_cleanup_errors=True) as home:
        Path(home).chmod(0o755)
        yield Path(home)


def installed(place: Path) -> Path:
    """Return a virtual environment that counts as current: the one of the tests."""
    (place / "bin").mkdir(parents=True)
    for name in ("jarvis", "python"):
        (place / "bin" / name).symlink_to(Path(sys.executable).parent / name)
    files = ["cat", ROOT / LOCK, ROOT / "pyproject.toml"]
    text = subprocess.run(files, capture_output=True, check=True).stdout
    stamp = subprocess.run(["cksum"], input=text, capture_output=True, check=True).stdout
    (place / f".{LOCK}").write_bytes(stamp)
    return place


def test_the_documented_way_without_containers(home: Path, tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text("void f(char *a, char *b) { strcpy(a, b); }\n")
    plain = {name: value for name, value in os.environ.items() if not name.startswith("JARVIS_")}
    environ = plain | {"JARVIS_VENV": str(installed(home / "venv"))} | {name: str(free_port()) for name in PORTS}
    log = home / "log"
    with log.open("wb") as out:
        script = ["sh", str(ROOT / "deploy/local-topology.sh"), str(home / "state")]
        running = subprocess.Popen(script, env=environ, stdout=out, stderr=out)
    try:
        until(lambda: "Everything runs" in log.read_text() or running.poll() is not None, 4 * PATIENCE_SECONDS)
        assert running.poll() is None, log.read_text()
        started = psutil.Process(running.pid).children(recursive=True)
        scan = f". {home}/state/env && cd {tmp_path} && jarvis sec fast -q"
        limit = PATIENCE_SECONDS * crowd()
        done = subprocess.run(["sh", "-c", scan], env=plain, capture_output=True, text=True, timeout=limit, check=False)
    finally:
        running.send_signal(signal.SIGTERM)
        running.wait(PATIENCE_SECONDS * crowd())

    assert (done.returncode, "a.c:1:28: medium" in done.stdout) == (0, True), done.stderr
    assert "http://127.0.0.1:" + environ["WEB_PORT"] in log.read_text()
    _, alive = psutil.wait_procs(started, timeout=PATIENCE_SECONDS)
    assert [process.cmdline() for process in alive] == []
