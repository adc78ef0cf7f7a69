"""Trees and blob stores shared by the tests of this directory."""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from jarvis_workers.snapshots.selection import Selection

NOBODY = 65534


@pytest.fixture
def chosen() -> Selection:
    return Selection(frozenset({b".c", b".h"}))


@pytest.fixture
def grow() -> Callable[[Path, Mapping[str, str | bytes]], Path]:
    """Write files, by their paths below a root."""

    def write(root: Path, files: Mapping[str, str | bytes]) -> Path:
        for name, content in files.items():
            place = root / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content if isinstance(content, bytes) else content.encode())
        return root

    return write


@pytest.fixture
def public_path() -> Iterator[Path]:
    """A temporary directory that every user may enter."""
    path = Path(tempfile.mkdtemp())
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)


@pytest.fixture
def as_nobody() -> Callable[[], AbstractContextManager[None]]:
    """Run as `nobody` if the user is root, who may read everything."""

    @contextmanager
    def step_down() -> Iterator[None]:
        before = os.geteuid()
        if before == 0:
            os.seteuid(NOBODY)
        try:
            yield
        finally:
            os.seteuid(before)

    return step_down
