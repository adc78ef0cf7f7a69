"""Call a C compiler: detect its family and target, and compile files.

The compiler is the user's own, called in the user's build with the build's environment, standard streams and directory;
timeouts are left to the build.
"""

import re
import subprocess
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from jarvis_workers.errors import JarvisError

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
