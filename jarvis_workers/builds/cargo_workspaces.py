"""Find the crates of a tree that cargo compiles together: its workspaces, and the packages in none."""

import fnmatch
import os
import tomllib
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NamedTuple

from jarvis_workers.builds.local_tree import METADATA
from jarvis_workers.paths import read_regular

MANIFEST = "Cargo.toml"
MANIFEST_BYTES = 1_000_000


def cargo_workspaces(root: Path, exclude_dirs: Collection[str]) -> list[str]:
    """Return the directories below a root, "" for itself, in which cargo is to be called, in order.

    A manifest that cannot be read is one of them: cargo says why. Directories with the names `exclude_dirs` are left
    out, symbolic links are not followed.
    """
    found: dict[str, _Workspace | None] = {}
    for directory, workspace in _manifests(root, exclude_dirs):
        if workspace or not any(one and one.has(directory, above) for above, one in found.items()):
            found[directory] = workspace
    return sorted(found)


class _Workspace(NamedTuple):
    """What the manifest of a workspace excludes, relative to it."""

    exclude: tuple[str, ...]

    def has(self, directory: str, above: str) -> bool:
        """Return whether the package in a directory is of the workspace in `above`, as far as its manifest says."""
        prefix = f"{above}/" if above else ""
        inside = directory.removeprefix(prefix)
        return directory.startswith(prefix) and not any(
            inside == one or inside.startswith(f"{one}/") or fnmatch.fnmatch(inside, one) for one in self.exclude
        )


def _manifests(root: Path, exclude_dirs: Collection[str]) -> Iterator[tuple[str, _Workspace | None]]:
    """Yield directories with a manifest, a directory before those below it, and the workspace that it declares."""
    for directory, names, files in os.walk(root):
        names[:] = sorted(name for name in names if name not in exclude_dirs and name not in METADATA)
        if MANIFEST in files:
            relative = os.path.relpath(directory, root)
            yield "" if relative == "." else relative, _workspace(Path(directory, MANIFEST))


def _workspace(path: Path) -> _Workspace | None:
    try:
        manifest = tomllib.loads(read_regular(path, MANIFEST_BYTES).decode())
    except (OSError, ValueError, RecursionError):
        return None
    if "workspace" not in manifest:
        return None
    table = manifest["workspace"]
    exclude = table.get("exclude") if isinstance(table, dict) else None
    names = exclude if isinstance(exclude, list) else []
    return _Workspace(tuple(str(one).removeprefix("./").rstrip("/") for one in names))
