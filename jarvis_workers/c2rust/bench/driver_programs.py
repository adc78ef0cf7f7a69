"""Programs that call functions of a project: C drivers, linked with what its build has made."""

import posixpath
import re
import shlex
from collections import defaultdict
from collections.abc import Sequence
from hashlib import sha256
from typing import NamedTuple

from jarvis_workers.c2rust.bench.project_bench import PROJECT, ProjectBench
from jarvis_workers.paths import as_text
from jarvis_workers.sandbox.confine import WORK
from jarvis_workers.source.clang.unit import CompileCommand

DRIVERS = "drivers"
# The output of `nm -A -P`: FILE: NAME TYPE …, or FILE[MEMBER]: NAME TYPE …
SYMBOL = re.compile(r"^([^\n]*?)(?:\[[^\]\n]*\])?: (\S+) [A-Z]\b", re.MULTILINE)
LIST_SYMBOLS = (
    rf"find {PROJECT} -type f \( -name '*.a' -o -name '*.o' \) -print0"
    " | xargs -0 -r nm -A -P -g --defined-only 2>/dev/null || true"
)
LIBRARIES = "-lm", "-lpthread", "-ldl"
PROBLEM_LENGTH = 4_000


class Driver(NamedTuple):
    """A C program with a `main`, compiled like the file of a function.

    `symbols` are external functions of that file; what defines one of them is linked.
    """

    text: str
    compiled: CompileCommand
    symbols: tuple[str, ...]

    @property
    def program(self) -> str:
        """The path of the program, relative to the project: the same on all benches."""
        return f"../{DRIVERS}/{sha256(repr(self).encode('utf-8', 'backslashreplace')).hexdigest()[:32]}"


def build_driver(bench: ProjectBench, driver: Driver) -> str:
    """Build a driver, unless the bench has it already; return the errors, "" if there are none. Raises StepFailed."""
    bench.restore()
    if not bench.run(f"test -x {driver.program}", {}, bench.limits.test_seconds).failure:
        return ""
    inputs = link_inputs(bench.in_work(LIST_SYMBOLS, []).decode(errors="replace"), driver.symbols)
    if not inputs:
        return "no object file or static library of the build defines the function: a driver cannot be linked"
    source = bench.write_file(f"{driver.program.rpartition('/')[2]}.c", driver.text.encode(errors="replace"))
    root = f"{bench.place}/{WORK}/{PROJECT}"
    directory = shlex.quote(as_text(driver.compiled.directory) or ".")
    own = posixpath.dirname(f"{root}/{as_text(driver.compiled.file)}")
    linked = shlex.join(f"{root}/{one}" for one in inputs)
    script = (
        f"mkdir -p ../{DRIVERS} && program=$PWD/{driver.program} && cd {directory} &&"
        # The first directory of the path has the compilers that insert slots: the driver itself has none.
        f" PATH=${{PATH#*:}} cc -iquote {shlex.quote(own)} {shlex.join(driver.compiled.arguments)} -w"
        f" -c -o $program.o {source} && cc -o $program.part $program.o"
        f" -Wl,--allow-multiple-definition -Wl,--start-group {linked} -Wl,--end-group {' '.join(LIBRARIES)} &&"
        " mv $program.part $program"
    )
    done = bench.run(script, {}, bench.limits.build_seconds)
    # The same text on all benches.
    output = done.output.decode(errors="backslashreplace").replace(str(source), "driver.c").replace(f"{root}/", "")
    return done.failure and f"{done.failure}: {output[:PROBLEM_LENGTH]}"


def link_inputs(symbols: str, names: Sequence[str]) -> list[str]:
    """Return the files to link, relative to the project, from the output of nm for all object files and libraries.

    These are the static libraries if one of them defines one of the names, else the objects without `main`.
    """
    defined = defaultdict[str, set[str]](set)
    for file, name in SYMBOL.findall(symbols):
        defined[file.removeprefix(f"{PROJECT}/")].add(name)
    libraries = {file: found for file, found in defined.items() if file.endswith(".a")}
    objects = {file: found for file, found in defined.items() if file.endswith(".o") and "main" not in found}
    for group in (libraries, objects):
        if first := sorted(file for file, found in group.items() if not found.isdisjoint(names)):
            return [*first, *sorted(group.keys() - set(first))]
    return []
