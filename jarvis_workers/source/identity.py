"""Identify the interpreter and the matching engines, down to the build.

Cached results are keyed by this identity, since the same rules can have different results with other versions: CPython
before 3.11.5 matches some patterns incorrectly, and another parser version builds different syntax trees.
"""

import sys
from collections.abc import Callable
from functools import cache

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
