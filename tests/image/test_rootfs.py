"""Both targets of the image, built in a Debian root and started as any user over a read-only root; by hand, as root.

ROOTFS_BASE names a root that debootstrap has made already.
"""

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.chaos.commands import until
from tests.image.rootfs import Image, build
from tests.image.test_dockerfile import EXTRAS
from tests.support.servers import missing, redis_server

pytestmark = [pytest.mark.long, pytest.mark.timeout(3600)]

MEGABYTES = {"slim": 700, "worker": 1700}
COMPILE = 'gcc -c a.c -o "$HOME/a.o" && nm "$HOME/a.o" && rustc --version'


@pytest.fixture(scope="module")
def images(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Image]:
    if os.geteuid() != 0 or shutil.which("debootstrap") is None:
        missing("debootstrap, or the right to use it,")
    base = os.environ.get("ROOTFS_BASE")
    return build(tmp_path_factory.mktemp("rootfs"), Path(base) if base else None)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "a.c").write_text("void f(char *a, char *b) { __builtin_strcpy(a, b); }\n")
    (tmp_path / "source" / "b.c").write_text("void g(char *a, char *b) { strcpy(a, b); }\n")
    return tmp_path / "source"


@pytest.fixture
def data(tmp_path: Path) -> Iterator[Path]:
    """A data directory as a volume of the image is: of group 0, which may write."""
    place = tmp_path / "data"
    place.mkdir()
    place.chmod(0o770)
    yield place


def run(image: Image, data: Path, source: Path, *args: str) -> str:
    command = image.program(data, source, *args)
    done = subprocess.run(command, env=image.environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("target", MEGABYTES)
def test_any_user_scans_with_a_read_only_root(
    images: Mapping[str, Image], target: str, data: Path, source: Path
) -> None:
    image = images[target]
    print(f"{target}: {image.size / 1e6:.0f} MB")

    extras = re.search(r"^extras +([^;]*)", run(image, data, source, "--version"), re.MULTILINE)
    assert extras and set(extras[1].split(", ")) >= set(EXTRAS)
    assert "b.c:1:28: medium" in run(image, data, source, "sec", "fast", "-p", "/mnt")
    assert image.size < MEGABYTES[target] * 1_000_000


def test_agents_scripts_compile_in_the_sandbox(images: Mapping[str, Image], data: Path, source: Path) -> None:
    assert " T f" in run(images["worker"], data, source, "sandbox", "run", "/mnt", "--", "sh", "-c", COMPILE)


@pytest.mark.parametrize("target", MEGABYTES)
def test_a_worker_is_healthy_and_stops(images: Mapping[str, Image], target: str, data: Path, source: Path) -> None:
    image = images[target]
    check = image.program(data, source, *image.health, entry=False)

    def is_healthy() -> bool:
        return subprocess.run(check, env=image.environ, capture_output=True, check=False).returncode == 0

    with redis_server() as broker:
        environ = image.environ | {"JARVIS_BROKER_URL": broker.url}
        assert not is_healthy()
        command = image.program(data, source, "worker", "start", "--queues", "control")
        worker = subprocess.Popen(command, env=environ)
        try:
            until(is_healthy)
        finally:
            # The first process of the container gets the signal from its engine.
            tini = int(subprocess.check_output(["pgrep", "-P", str(worker.pid)]).split()[0])
            os.kill(tini, signal.SIGTERM)
            assert worker.wait(40) == 0
    assert not is_healthy()


def test_nothing_of_the_build_is_in_the_image(images: Mapping[str, Image]) -> None:
    root = images["worker"].root

    assert list(root.glob("var/lib/apt/lists/*_Packages")) == []
    assert not (root / "build").exists() and not (root / "root/.cache").exists()
    assert "10001:0:" in (root / "etc/passwd").read_text()
