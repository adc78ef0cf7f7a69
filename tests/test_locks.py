"""The lock files: every artifact by its hash, and no other source than the index."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LOCKS = sorted(ROOT.glob("requirements*.lock"))
PIN = re.compile(r"^[A-Za-z0-9._-]+==\S+")
HASHED = re.compile(r"^    --hash=sha256:[0-9a-f]{64}$")


def test_there_are_locks() -> None:
    assert {"requirements.lock", "requirements-dev.lock"} <= {lock.name for lock in LOCKS}


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.name)
def test_every_artifact_is_pinned_by_version_and_hash(lock: Path) -> None:
    lines = [line.removesuffix(" \\") for line in lock.read_text().splitlines() if not line.startswith("#")]
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        assert PIN.match(line) or HASHED.match(line), line
        assert not PIN.match(line) or HASHED.match(following), line


@pytest.mark.parametrize("script", ["deploy/venv.sh", "deploy/install.sh", "deploy/Dockerfile"])
def test_what_installs_from_a_lock_requires_the_hashes(script: str) -> None:
    commands = (ROOT / script).read_text().replace("\\\n", " ").splitlines()
    installs = [line for line in commands if re.search(r"install(_into)? .*-r ", line)]
    assert installs
    assert all("--require-hashes" in line for line in installs)


def test_pip_installs_a_lock_without_resolving_its_dependencies_again() -> None:
    """With them, a release newer than the lock is refused as soon as another package requires an extra of it."""
    commands = (ROOT / "deploy/venv.sh").read_text().splitlines()
    installs = [line for line in commands if "run_pip install" in line]
    assert installs
    assert all("--no-deps" in line for line in installs)
