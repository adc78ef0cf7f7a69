"""The directory `.jarvis` of a source tree: our files in it, and its own .gitignore.

Files that a team maintains there belong to its repository; all others are written by runs.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from jarvis_workers.errors import UsageError

TRACKED = ("triage.yaml", "rules", "c2rust", "memory", "skills", "methodologies", "tasks.yaml", "AGENT.md", "SOUL.md")
# What earlier versions have written.
_OLDER = frozenset({"*\n", "*\n!triage.yaml\n!rules\n!rules/**\n"})


def make_directory(directory: Path, *, own: bool, say: Callable[[str], None] | None = None) -> None:
    """Create the directory; our `own` one in a tree must not be a symbolic link, and git ignores it unless tracked.

    A .gitignore of an earlier version is extended after `say` was called with a line; without `say` it is not changed.
    """
    if own and (directory.is_symlink() or directory.parent.is_symlink()):
        raise UsageError(
            f"{directory}: symbolic links in the scanned tree are not followed; choose a directory with -d"
        )
    directory.mkdir(parents=True, exist_ok=True)
    if own:
        _ignore(directory.parent / ".gitignore", say)


def make_jarvis_directory(root: Path) -> Path:
    """Create and return `.jarvis` of a tree, for files of ours directly in it."""
    directory = root / ".jarvis"
    if directory.is_symlink():
        raise UsageError(f"{directory}: is a symbolic link, which is not followed; remove it")
    directory.mkdir(exist_ok=True)
    _ignore(directory / ".gitignore", None)
    return directory


def _ignore(path: Path, say: Callable[[str], None] | None) -> None:
    """Exclude the files of runs from the user's repository."""
    with suppress(FileExistsError), path.open("x") as ignore:
        ignore.writelines(_patterns())
    if say and not path.is_symlink() and path.is_file() and path.read_bytes().decode(errors="replace") in _OLDER:
        say(f"{path} was written by an earlier version: it was extended to let git track {', '.join(TRACKED)}")
        path.write_text("".join(_patterns()))


def _patterns() -> Iterator[str]:
    yield "*\n"
    for name in TRACKED:
        yield f"!{name}\n" if "." in name else f"!{name}\n!{name}/**\n"
