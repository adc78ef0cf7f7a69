"""The image as deploy/Dockerfile describes it; tests/image/test_rootfs.py builds it."""

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from jarvis_workers.toolchain.headers import builtin_headers
from tests.image.dockerfile import read_stages
from tests.image.rootfs import DOCKERFILE, ROOT
from tests.support.servers import missing
from tests.test_dependencies import declared

EXTRAS = ("agents", "c2rust", "cluster", "postgres", "flower", "re2", "s3", "metrics", "traces", "web")
PIN = re.compile(r"^([a-zA-Z0-9._-]+)==(\S+)", re.MULTILINE)
SECRET = re.compile(r"password|secret|token|api_key", re.IGNORECASE)


def pins(lock: str) -> dict[str, str]:
    """Return the version of each package that a lock names; each has a hash."""
    text = (ROOT / lock).read_text()
    entries = [entry for entry in re.split(r"\n(?=\S)", text.strip()) if not entry.startswith("#")]
    assert all("--hash=sha256:" in entry for entry in entries), lock
    return {canonicalize_name(name): version for name, version in PIN.findall(text)}


def test_the_dockerfile_is_clean() -> None:
    hadolint = shutil.which("hadolint", path=str(Path(sys.executable).parent))
    if hadolint is None:
        missing("hadolint")

    done = subprocess.run([hadolint, DOCKERFILE], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_lock_of_the_image_is_current() -> None:
    """It has what the extras need, nothing else, in the versions that the tests run with."""
    locked = pins("requirements-image.lock")
    tested = pins("requirements-dev.lock")

    assert declared(EXTRAS) - {"jarvis-workers"} - set(locked) == set()
    assert {name: version for name, version in locked.items() if tested.get(name) != version} == {}
    assert not {"pytest", "mypy", "moto", "hypothesis"} & set(locked)


def test_the_lock_of_the_build_tools_satisfies_the_build_system() -> None:
    locked = pins("deploy/build-tools.lock")
    for line in tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"]:
        requirement = Requirement(line)
        assert locked[requirement.name] in requirement.specifier
    assert "uv" in locked


@pytest.mark.parametrize("target", ["slim", "worker"])
def test_a_target_runs_as_a_user_without_rights(target: str) -> None:
    stages = read_stages(DOCKERFILE)

    assert stages[target].all("USER")[-1].text == "10001"
    assert next(reversed(stages)) == "worker"


def test_both_targets_are_checked_by_the_heartbeat() -> None:
    slim = read_stages(DOCKERFILE)["slim"]

    assert slim.all("HEALTHCHECK")[-1].array == ["jarvis", "worker", "healthcheck"]
    assert slim.all("ENTRYPOINT")[-1].array[-1] == "jarvis"
    assert {"title", "licenses", "version", "revision"} <= {
        name.removeprefix("org.opencontainers.image.") for name in slim.all("LABEL")[0].pairs
    }


def test_no_secret_gets_into_a_layer() -> None:
    """Only files that .dockerignore allows are in the context, and no argument or variable holds a secret."""
    ignored = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if not line.startswith("#")]
    stages = read_stages(DOCKERFILE).values()

    assert ignored[0] == "*"
    names = [name for stage in stages for name in stage.arguments]
    names += [name for stage in stages for step in stage.all("ENV") for name in step.pairs]
    assert [name for name in names if SECRET.search(name)] == []


def test_the_version_is_that_of_the_package() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]

    labels = read_stages(DOCKERFILE)["slim"].all("LABEL")[0].pairs

    assert labels["org.opencontainers.image.version"] == version


def test_of_clang_tidy_the_image_keeps_the_headers_alone() -> None:
    """What the image removes is in the wheel, and leaves the headers that reading C needs."""
    (install,) = (step.text for step in read_stages(DOCKERFILE)["build"].all("RUN") if "rm -r /opt" in step.text)
    removed = install.partition("rm -r ")[2].split()
    found = {name: list(Path(sys.prefix).glob(name.removeprefix("/opt/jarvis/"))) for name in removed}

    assert removed and all(found.values()), found
    headers = builtin_headers(None)
    assert not any(headers.is_relative_to(path) for paths in found.values() for path in paths)


def test_the_files_that_the_metadata_names_are_in_the_context_and_copied() -> None:
    """Without them, the wheel is not built."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    copied = [word for step in read_stages(DOCKERFILE)["build"].all("COPY") for word in step.text.split()[:-1]]
    context = (ROOT / ".dockerignore").read_text().splitlines()
    for name in (project["readme"], *project["license-files"]):
        assert name in copied and f"!{name}" in context, name
