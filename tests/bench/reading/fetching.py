"""Lay out the trees of recipes: fetch one commit of a public repository, and write the paths that the recipe names.

Nothing of it is built or run. What is written is checked against the recipe: its lines, and the functions of its fixes.
"""

import io
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path

from jarvis_workers.sec.judge.slices.places import SourceFile
from tests.bench.reading.recipes import Place, Tree
from tests.support.archives import extract

GITHUB = "https://github.com/{repository}"
SECONDS = 600
SUFFIXES = frozenset((".c", ".h", ".cc", ".cpp", ".l", ".y"))
# Rules of flex are no functions.
LEXER = ".l"


def fetch(tree: Tree, directory: Path, origin: str = GITHUB, *, whole: bool = False) -> list[str]:
    """Write a tree, or the `whole` repository, to `directory`, and return what differs from the recipe.

    `origin` is the address of a repository; {repository}, {owner} and {project} are replaced.
    """
    owner, _, project = tree.repository.partition("/")
    address = origin.format(repository=tree.repository, owner=owner, project=project)
    with tempfile.TemporaryDirectory() as place:
        git(place, "init", "-q", "--bare", ".")
        git(place, "fetch", "-q", "--depth", "1", address, tree.commit)
        archive = git(place, "archive", "--format=tar", tree.commit)
    with tarfile.open(fileobj=io.BytesIO(archive)) as packed:
        members = [one for one in packed if one.isreg() and (whole or tree.selects(one.name))]
        extract(packed, directory, members)
    return list(problems(tree, directory))


def problems(tree: Tree, directory: Path) -> Iterator[str]:
    """Yield what differs between a recipe and its tree in `directory`."""
    lines = sum(path.read_bytes().count(b"\n") for path in sources(tree, directory))
    if lines != tree.lines:
        yield f"{tree.name}: {lines} lines, the recipe has {tree.lines}"
    for place in dict.fromkeys(place for fix in tree.fixes for place in fix.places):
        if problem := _problem(place, directory):
            yield f"{tree.name}: {place.file}: {problem}"


def sources(tree: Tree, directory: Path) -> list[Path]:
    """Return the source files of a tree in `directory`, in the order of their paths."""
    found = (path for path in sorted(directory.rglob("*")) if path.suffix in SUFFIXES and path.is_file())
    return [path for path in found if tree.selects(path.relative_to(directory).as_posix())]


def git(place: str, *arguments: str) -> bytes:
    """Run git in a directory; its messages are shown."""
    return subprocess.run(["git", *arguments], cwd=place, stdout=subprocess.PIPE, check=True, timeout=SECONDS).stdout


def _problem(place: Place, directory: Path) -> str | None:
    path = directory / place.file
    if not path.is_file():
        return "missing"
    if path.suffix == LEXER:
        return None
    found = [one for one in SourceFile(place.file, path.read_bytes()).places if one.function]
    if any((one.name, one.first, one.last) == (place.function, place.first, place.last) for one in found):
        return None
    return f"lines {place.first} to {place.last} are not the function {place.function}"
