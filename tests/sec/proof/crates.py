"""Source packages of crates.io that contain C libraries, downloaded by cargo and unpacked into a cache directory.

Nothing of them is part of the repository.  A package counts only with its SHA-256.
"""

import os
import subprocess
import tarfile
import tempfile
from dataclasses import dataclass
from hashlib import file_digest
from pathlib import Path

import pytest

from tests.support.archives import extract

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "jarvis-workers-tests"
MANIFEST = """\
[package]
name = "download"
version = "0.0.0"
[dependencies]
{name} = {{ version = "={version}", default-features = false }}
"""


@dataclass(frozen=True)
class CratePackage:
    """A version of a crate, with the SHA-256 of its package and the directory of the C library in it."""

    name: str
    version: str
    sha256: str
    folder: str

    def unpacked(self, place: Path) -> Path:
        """Unpack the library into a new directory, and return its root.

        Without a network the test is skipped, or fails in CI.
        """
        archive = self._cached() or self._download()
        with tarfile.open(archive) as packed:
            extract(packed, place)
        return place / f"{self.name}-{self.version}" / self.folder

    def _cached(self) -> Path | None:
        found = CACHE.glob(f"cargo/registry/cache/*/{self.name}-{self.version}*.crate")
        return next((path for path in found if _sha256(path) == self.sha256), None)

    def _download(self) -> Path:
        with tempfile.TemporaryDirectory() as place:
            manifest = Path(place, "Cargo.toml")
            (manifest.parent / "src").mkdir()
            (manifest.parent / "src/lib.rs").touch()
            manifest.write_text(MANIFEST.format(name=self.name, version=self.version))
            environment = os.environ | {"CARGO_HOME": str(CACHE / "cargo")}
            command = ["cargo", "fetch", "--manifest-path", str(manifest)]
            done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=300)
        if (archive := self._cached()) is None:
            refuse = pytest.fail if os.environ.get("CI") else pytest.skip
            refuse(f"{self.name} {self.version} cannot be downloaded with its SHA-256: {done.stderr[-300:]}")
        return archive


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()
