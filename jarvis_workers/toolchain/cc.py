"""Call a C compiler: detect its family and target, compile files, and cache the object file of the slot runtime.

The compiler is the user's own, called in the user's build with the build's environment, standard streams and directory;
timeouts are left to the build.
"""

import hashlib
import os
import re
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from jarvis_workers.errors import JarvisError

RUNTIME = Path(__file__).parent / "runtime.c"
RUNTIME_FLAGS = ("-O2", "-fPIC", "-fvisibility=hidden", "-g0")
TARGET_FLAG = re.compile(r"--?target=.*|--sysroot=.*|-m(arch|cpu|abi|tune|branch-protection)=.*")


class CompilerFacts(NamedTuple):
    """A compiler: `family` ("gcc" or "clang"), major `version`, and `machine`, the first part of the target triple."""

    family: str
    version: int
    machine: str


def run_compiler(words: Sequence[str], environ: Mapping[str, str]) -> int:
    """Run a compiler with the standard streams of this process; return its exit code."""
    try:
        code = subprocess.run(list(words), env=dict(environ), check=False).returncode
    except OSError as error:
        raise JarvisError(f"{words[0]}: cannot be started: {error.strerror}") from error
    return 128 - code if code < 0 else code


def compiler_facts(compiler: Sequence[str], flags: Sequence[str], environ: Mapping[str, str]) -> CompilerFacts:
    """Return the family, version and target of a compiler called with these flags."""
    words = [*compiler, *target_flags(flags), "-v"]
    try:
        process = subprocess.run(
            words, env={**environ, "LC_ALL": "C"}, capture_output=True, stdin=subprocess.DEVNULL, check=False
        )
    except OSError as error:
        raise JarvisError(f"{words[0]}: cannot be started: {error.strerror}") from error
    text = process.stderr.decode(errors="replace")
    version = re.search(r"^.*\b(gcc|clang) version (\d+)", text, re.MULTILINE)
    target = re.search(r"^Target: ([^-\s]+)", text, re.MULTILINE)
    if not version or not target:
        raise JarvisError(f"{words[0]}: neither gcc nor clang; set JARVIS_C2RUST_CC to one of them")
    return CompilerFacts(version[1], int(version[2]), target[1])


def target_flags(flags: Sequence[str]) -> list[str]:
    """Return the flags that select the target."""
    return [flag for flag in flags if TARGET_FLAG.fullmatch(flag)]


def runtime_object(compiler: Sequence[str], flags: Sequence[str], environ: Mapping[str, str], cache: Path) -> Path:
    """Return the object file of the slot runtime for this compiler and target, compiled on first use.

    The flags that select the target are part of the cache key, as are the compiler's name and the runtime's source.
    """
    command = [*compiler, *target_flags(flags), *RUNTIME_FLAGS]
    parts = [part.read_text() for part in sorted(RUNTIME.parent.glob("*.c"))]
    key = hashlib.sha256("\0".join([*command, *parts]).encode()).hexdigest()
    target = cache / f"runtime-{key[:32]}.o"
    if target.exists():
        return target
    cache.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(prefix=".runtime-", suffix=".o", dir=cache)
    os.close(descriptor)
    try:
        if run_compiler([*command, "-c", str(RUNTIME), "-o", name], environ):
            raise JarvisError(f"{compiler[0]}: cannot compile the slot runtime {RUNTIME}")
        Path(name).rename(target)
    finally:
        Path(name).unlink(missing_ok=True)
    return target
