"""Call a C compiler: what it is, what it compiles, and the object of the runtime of slots, cached by its contents.

A compiler here is a user's own, called in their build with their environment, standard streams and directory; `timeout`
is theirs, too.
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
    """`family` is "gcc" or "clang", `version` its major version, `machine` the first part of its target triple."""

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
    """Ask a compiler what it is and what it compiles for with these flags."""
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
    """Return those flags that choose the target."""
    return [flag for flag in flags if TARGET_FLAG.fullmatch(flag)]


def runtime_object(compiler: Sequence[str], flags: Sequence[str], environ: Mapping[str, str], cache: Path) -> Path:
    """Return the object of the runtime for this compiler and target; compile it once.

    The flags that choose the target are part of the key, as are the name of the compiler and the text of the runtime.
    """
    command = [*compiler, *target_flags(flags), *RUNTIME_FLAGS]
    key = hashlib.sha256("\0".join([*command, RUNTIME.read_text()]).encode()).hexdigest()
    wanted = cache / f"runtime-{key[:32]}.o"
    if wanted.exists():
        return wanted
    cache.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(prefix=".runtime-", suffix=".o", dir=cache)
    os.close(descriptor)
    try:
        if run_compiler([*command, "-c", str(RUNTIME), "-o", name], environ):
            raise JarvisError(f"{compiler[0]}: cannot compile the slot runtime {RUNTIME}")
        Path(name).rename(wanted)
    finally:
        Path(name).unlink(missing_ok=True)
    return wanted
