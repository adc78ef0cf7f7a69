"""Build C libraries with their own build systems and a compiler that records its calls."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from jarvis_workers.source.clang.unit import CompileCommand

RECORDER = Path(__file__).with_name("c2rust_recorder.py")
MAKE = ("make", "-j2")
# What builds each library; "{cc}" is the recording compiler, CC as well.
LIBRARIES: dict[str, tuple[tuple[str, ...], ...]] = {
    "bzip2": ((*MAKE, "CC={cc}", "libbz2.a", "bzip2", "bzip2recover"),),
    "zlib": (("sh", "configure"), (*MAKE, "all")),
    "zopfli": ((*MAKE, "CC={cc}", "zopfli", "libzopfli"),),
    "cJSON": ((*MAKE, "CC={cc} -std=c89", "all"),),
    "tinyexpr": ((*MAKE, "CC={cc}", "all"),),
    "lz4": ((*MAKE, "CC={cc}", "default"),),
    "lua": ((*MAKE, "CC={cc} -std=gnu99", "linux"),),
    "hiredis": ((*MAKE, "CC={cc}", "all", "hiredis-test"),),
}
# Larger ones, which are compared only if they are asked for by name.
LARGE: dict[str, tuple[tuple[str, ...], ...]] = {
    "sqlite3": (("sh", "-c", "$CC -c sqlite3.c"),),
    "redis-full": (
        (*MAKE, "-C", "deps", "hiredis", "lua", "hdr_histogram", "fpconv", "linenoise", "CC={cc}"),
        (*MAKE, "-C", "src", "CC={cc}", "MALLOC=libc", "redis-server", "redis-cli", "redis-benchmark"),
    ),
    "curl": (("sh", "configure", "--without-ssl", "--disable-shared"), (*MAKE,)),
    "libgit2": (
        ("cmake", "-B", "build", "-DBUILD_TESTS=OFF", "-DUSE_SSH=OFF", "-DUSE_HTTPS=OFF"),
        ("cmake", "--build", "build", "-j2"),
    ),
}


class Compilation(NamedTuple):
    """A C source below the root that a build compiled; its unoptimized object, the dump of its trees, and exit code."""

    command: CompileCommand
    object: Path
    dump: Path
    code: int


def record_build(root: Path, name: str, work: Path) -> list[Compilation]:
    """Build a library in place and return its compilations, sorted and without duplicates."""
    record, program = work / "record", work / "cc"
    record.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -S "{RECORDER}" "$@"\n')
    program.chmod(0o755)
    environment = {**os.environ, "CC": str(program), "RECORD": str(record)}
    for command in (LIBRARIES | LARGE)[name]:
        words = [word.replace("{cc}", str(program)) for word in command]
        subprocess.run(words, cwd=root, env=environment, check=True, stdin=subprocess.DEVNULL, stdout=sys.stderr)
    compilations = [_compilation(root, json.loads(path.read_text()), path) for path in sorted(record.glob("*.json"))]
    return sorted({one.command: one for one in compilations if one}.values())


def _compilation(root: Path, recorded: dict[str, str], path: Path) -> Compilation | None:
    directory = Path(recorded["directory"])
    file = Path(os.path.normpath(directory / recorded["file"]))
    if not file.is_relative_to(root) or not file.exists():
        return None
    relative = os.fsencode(os.path.relpath(directory, root))
    command = CompileCommand(os.fsencode(file.relative_to(root)), relative, tuple(recorded["arguments"]))
    return Compilation(command, path.with_suffix(".o"), path.with_suffix(".original"), int(recorded["code"]))
