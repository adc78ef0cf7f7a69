"""Cache the results of jobs that build and test a project on this machine.

The key covers the project, the commands, the compilers and the code of this program.  A cached result is used only if
all its blobs are still stored.
"""

import json
import os
import platform
import shutil
from functools import cache
from hashlib import sha256
from pathlib import Path

from jarvis_workers.c2rust.bench.tree_state import LIMIT
from jarvis_workers.c2rust.stages.options import FastOptions
from jarvis_workers.errors import UsageError
from jarvis_workers.snapshots.resources import Resources
from jarvis_workers.source.identity import code_fingerprint
from jarvis_workers.store.values import Commit
from jarvis_workers.toolchain.cargo import find_rust

# The queue of these jobs.
QUEUE = "build"
SPACE, FOLDER = "c2rust-gates-1", b"conversions"
CODE = (
    "jarvis_workers.c2rust",
    "jarvis_workers.builds",
    "jarvis_workers.toolchain",
    "jarvis_workers.sandbox",
    "jarvis_workers.source",
)
BUILD_OPTIONS = "project", "configure", "build", "tests", "only", "forward", "translate", "plan", "tool_chains"
LIMIT_OPTIONS = "build_seconds", "test_seconds", "memory_mb", "disk_mb"
PROGRAMS = "cc", "gcc", "clang", "as", "ld", "make", "cmake", "gcov"


def result_key(step: str, options: FastOptions, *parts: object) -> str:
    """Return the key of a job's result; `parts` are the blobs that the job reads, and options specific to its step."""
    given = [getattr(options, name) for name in ("crates", *BUILD_OPTIONS, *LIMIT_OPTIONS)]
    words = [step, given, parts, gate_code(), platform.machine(), _programs()]
    return sha256(json.dumps(words, default=list).encode()).hexdigest()


def cached_result(resources: Resources, options: FastOptions, key: str) -> Commit | None:
    """Return the cached commit of a job, or None."""
    if not (options.cache and resources.cache):
        return None
    found = resources.cache.find(SPACE, FOLDER, [key]).get(key)
    names = [(str(name), str(blob)) for name, blob in json.loads(found)] if found else []
    if not names or not all(resources.blobs.has(blob) for _, blob in names):
        return None
    # Storing a blob again renews its time of use, so that it is not pruned before this run refers to it.
    return Commit(
        cached=1, blobs=tuple((name, resources.blobs.put(resources.blobs.read(blob))) for name, blob in names)
    )


def cache_result(resources: Resources, key: str, commit: Commit, *details: str) -> Commit:
    """Cache a commit and return it; a commit with gaps or timeouts is not cached, since a repetition may succeed."""
    if resources.cache and not commit.not_checked and not any(LIMIT in detail for detail in details):
        resources.cache.put(SPACE, FOLDER, {key: json.dumps(commit.blobs).encode()})
    return commit


@cache
def gate_code() -> str:
    """Return the hash of the code of the steps; long-lived processes call this early: files may be replaced later."""
    return code_fingerprint(CODE)


def _programs() -> list[object]:
    """Return path, size and time of each compiler and build tool, and the Rust toolchain."""
    found: list[object] = []
    for name in PROGRAMS:
        if place := shutil.which(name):
            facts = Path(place).stat()
            found.append((os.path.realpath(place), facts.st_size, facts.st_mtime_ns))
    try:
        return [*found, str(find_rust().root), find_rust().version]
    except UsageError:
        return found
