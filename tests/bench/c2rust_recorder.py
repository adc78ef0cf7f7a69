"""A C compiler that also records its calls, and compiles each C source a second time for the comparison.

Each source becomes three files in the directory RECORD: the call as JSON, the object, and a dump of gcc's trees.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

COMPILER = "gcc"
# DWARF 4, since objdump 2.40 misreads the files of DWARF 5 in objects; inlined functions would have no calls.
FLAGS = (
    *("-w", "-c", "-gdwarf-4", "-O0", "-fno-inline", "-fno-builtin", "-ffunction-sections", "-fkeep-inline-functions"),
    *("-Dalways_inline=noinline", "-fno-lto", "-fcf-protection=none"),
)
WITH_VALUE = ("-I", "-D", "-U", "-include", "-isystem", "-idirafter", "-iquote", "-x", "-imacros")
DROPPED_WITH_VALUE = ("-o", "-MF", "-MT", "-MQ", "-Xlinker", "-z", "-u", "-T", "-L", "-l")
DROPPED = ("-o", "-l", "-L", "-M", "-Wl,", "-O", "-g", "-flto", "-Werror", "-shared", "-static", "-c", "-pipe")
NO_COMPILATION = {"-E", "-M", "-MM", "-S"}


def parsed(words: list[str]) -> tuple[list[str], list[str]]:
    """Return the C sources of a compiler call, and its relevant options."""
    sources, options = [], []
    remaining = iter(words)
    for word in remaining:
        if word in DROPPED_WITH_VALUE:
            next(remaining, None)
        elif word in WITH_VALUE:
            options += [word, next(remaining, "")]
        elif word.startswith("-"):
            if not word.startswith(DROPPED):
                options.append(word)
        elif word.endswith(".c"):
            sources.append(word)
    return sources, options


def record(words: list[str], directory: Path) -> None:
    """Compile and record each source of a compiler call."""
    sources, options = parsed(words)
    for number, source in enumerate(sources if NO_COMPILATION.isdisjoint(words) else ()):
        path = directory / f"{os.getpid()}-{number}"
        dump = f"-fdump-tree-original={path}.original"
        done = subprocess.run([COMPILER, *options, *FLAGS, dump, source, "-o", f"{path}.o"], check=False)
        call = {"file": source, "directory": str(Path.cwd()), "arguments": options, "code": done.returncode}
        Path(f"{path}.json").write_text(json.dumps(call))


if __name__ == "__main__":
    record(sys.argv[1:], Path(os.environ["RECORD"]))
    os.execvp(COMPILER, [COMPILER, *sys.argv[1:]])
