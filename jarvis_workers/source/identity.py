"""Name what runs the rules: the interpreter and the engines, down to the build.

Results are cached under it, since the same rules may find something else with another: before 3.11.5 CPython
matches some patterns wrongly, and a parser of another version builds other trees.
"""

import sys
from collections.abc import Callable
from functools import cache

__all__ = ["engine_identity", "installed_version", "loaded_engine"]

ENGINES = ("hyperscan", "google-re2", "tree-sitter", "tree-sitter-c", "tree-sitter-cpp", "tree-sitter-rust")


def installed_version(distribution: str) -> str:
    """Return the version of an installed distribution, or "" if there is none."""
    from importlib import metadata  # noqa: PLC0415 - slow, and only scans ask

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
    """Return the identity of this process; one that lives long calls it early, as packages may be replaced."""
    return engine_identity()
