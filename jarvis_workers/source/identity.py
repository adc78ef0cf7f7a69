"""Identify the interpreter and the matching engines, down to the build, and the code that decides a result.

Cached results are keyed by this identity, since the same rules can have different results with other versions: CPython
before 3.11.5 matches some patterns incorrectly, and another parser version builds different syntax trees.
"""

import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from hashlib import sha256
from importlib.resources import files
from importlib.resources.abc import Traversable

ENGINES = ("hyperscan", "google-re2", "tree-sitter", "tree-sitter-c", "tree-sitter-cpp", "tree-sitter-rust")


def installed_version(distribution: str) -> str:
    """Return the version of an installed distribution, or "" if there is none."""
    from importlib import metadata  # noqa: PLC0415 - slow, and only needed for scans

    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return ""


def engine_identity(
    python: str = f"{sys.implementation.name} {sys.version}", version_of: Callable[[str], str] = installed_version
) -> str:
    """Return one line: the interpreter with its build, and the version of each engine that is installed."""
    versions = ((name, version_of(name)) for name in ENGINES)
    return " ".join([python.replace("\n", " "), *(f"{name}={version}" for name, version in versions if version)])


@cache
def loaded_engine() -> str:
    """Return the identity of this process. Long-lived processes call this early: packages may be replaced later."""
    return engine_identity()


def code_fingerprint(names: Iterable[str]) -> str:
    """Return the hash of the code of modules and packages, given by their dotted names."""
    digest = sha256()
    for name, file in code_files(names):
        digest.update(f"{name}\0".encode() + file.read_bytes())
    return digest.hexdigest()


def code_files(names: Iterable[str]) -> Iterator[tuple[str, Traversable]]:
    """Yield the files of modules, and all files of packages and below them, with their paths; they may be in a zip."""
    for name in names:
        top, *parts = name.split(".")
        place = files(top).joinpath(*parts)
        if place.is_dir():
            yield from _files_below("/".join([top, *parts]), place)
        else:
            yield "/".join([top, *parts]) + ".py", files(top).joinpath(*parts[:-1], f"{parts[-1]}.py")


def _files_below(path: str, folder: Traversable) -> Iterator[tuple[str, Traversable]]:
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir():
            yield from _files_below(f"{path}/{entry.name}", entry)
        elif not entry.name.endswith(".pyc"):
            yield f"{path}/{entry.name}", entry
