"""Write the files of a tar archive, also on Pythons before 3.11.4, whose `extractall` has no filters."""

import tarfile
from collections.abc import Iterable
from pathlib import Path


def extract(packed: tarfile.TarFile, directory: Path, members: Iterable[tarfile.TarInfo] | None = None) -> None:
    """Write the regular files of an archive, or those of `members`; none is written outside of the directory."""
    root = directory.resolve()
    for one in packed if members is None else members:
        content = packed.extractfile(one) if one.isreg() else None
        if content is None:
            continue
        place = (root / one.name).resolve()
        if not place.is_relative_to(root):
            raise ValueError(f"{one.name} is outside of the archive's directory")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content.read())
        place.chmod(one.mode & 0o755 | 0o600)
