"""Build C libraries with `jarvis c2rust cc` and their own build systems, and compare them with a plain build.

    python -m tests.bench.c2rust_slot_builds TREES [NAME …]

TREES has a directory per library of BUILDS.  Prints per library and machine the numbers of functions and slots in the
objects, the CPU seconds of the tests without and with slots, and the number of functions that the tests reach.
Programs for aarch64 are built by the cross compiler and run by qemu-aarch64.
"""

import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

COMPILER = f"{sys.executable} -m jarvis_cli c2rust cc"
CROSS, EMULATOR = "aarch64-linux-gnu-gcc", "qemu-aarch64 -L /usr/aarch64-linux-gnu"
RUNS = 3


class SlotProject(NamedTuple):
    """The commands of a library: its build, its tests, and its test programs under the emulator."""

    build: str
    test: str
    emulated: str = ""


CMAKE = "cmake -S . -B build -DENABLE_CJSON_UTILS=On $CMAKE_OPTIONS >/dev/null && cmake --build build >/dev/null"
BUILDS: Mapping[str, SlotProject] = {
    "zlib": SlotProject(
        './configure $CONFIGURE_OPTIONS >/dev/null && make CC="$CC" all >/dev/null 2>&1',
        'make CC="$CC" test',
        "$RUN ./example a.gz && echo hello | $RUN ./minigzip > b.gz && $RUN ./minigzip -d < b.gz",
    ),
    "bzip2": SlotProject('make CC="$CC" bzip2 bzip2recover >/dev/null', 'make CC="$CC" test'),
    "cJSON": SlotProject(
        CMAKE, "cd build && ctest", "cd build/tests && for one in *_tests cjson_add; do $RUN ./$one || exit 1; done"
    ),
}


class SlotMeasurement(NamedTuple):
    """Functions in the objects and those with slots, functions that the tests reach, and CPU seconds of the tests."""

    functions: int
    slots: int
    reached: int
    plain_seconds: float
    seconds: float


def run(command: str, tree: Path, environment: Mapping[str, str]) -> float:
    """Run a command; return its CPU seconds. Raises CalledProcessError if it fails."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    words = ["sh", "-c", command]
    subprocess.run(words, cwd=tree, env={**os.environ, **environment}, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(tree: Path, work: Path, *, cross: bool) -> SlotMeasurement:
    """Build a library with and without slots, and run its tests. Raises CalledProcessError if a command fails."""
    project, compiler = BUILDS[tree.name], CROSS if cross else "cc"
    test = project.emulated if cross else project.test
    plain = {"CC": compiler, "RUN": EMULATOR if cross else "", **_options(cross=cross)}
    seconds = []
    for name, own in (("plain", {}), ("slots", {"CC": COMPILER, "JARVIS_C2RUST_CC": compiler})):
        copy = work / f"{tree.name}_{name}_{compiler}"
        shutil.copytree(tree, copy, symlinks=True)
        environment = {**plain, **own, "JARVIS_C2RUST_ROOT": str(copy), "JARVIS_C2RUST_CACHE": str(work)}
        run(project.build, copy, environment)
        run(test, copy, environment)
        seconds.append(min(run(test, copy, environment) for _ in range(RUNS)))
    log = work / "log"
    run(test, copy, {**environment, "JARVIS_C2RUST_TRACE": "*", "JARVIS_C2RUST_LOG": str(log)})
    reached = {tuple(line.split("\t")[3:5]) for line in log.read_text().splitlines() if line.startswith("reached")}
    log.unlink()
    functions, slots = _count_slots(copy, compiler.removesuffix("gcc") if cross else "")
    return SlotMeasurement(functions, slots, len(reached), *seconds)


def _options(*, cross: bool) -> dict[str, str]:
    if not cross:
        return {"CMAKE_OPTIONS": "", "CONFIGURE_OPTIONS": ""}
    cmake = "-DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64"
    return {"CMAKE_OPTIONS": cmake, "CONFIGURE_OPTIONS": "--static", "CHOST": "aarch64-linux-gnu"}


def _count_slots(tree: Path, prefix: str) -> tuple[int, int]:
    """Return how many different functions the objects define, and how many of these have a slot.

    A second name for the same address, such as gcc's `f.localalias`, does not count.
    """
    functions, slots = set[str](), set[str]()
    for path in (*tree.rglob("*.o"), *tree.rglob("*.sho")):
        symbols = subprocess.run([f"{prefix}readelf", "-sW", path], check=True, capture_output=True, text=True).stdout
        rows = re.findall(r": ([0-9a-f]+) .* FUNC .* (\d+) (\S+)$", symbols, re.MULTILINE)
        names = {name for *_, name in rows}
        own = {name.removeprefix("jvc_") for name in names if name.startswith("jvc_")}
        trampolines = own | {name.partition("__")[2] for name in own}
        places = {tuple(place) for *place, name in rows if name in trampolines}
        others = {name for *place, name in rows if tuple(place) not in places}
        functions |= own | {name for name in others if not re.match(r"jv[a-z]?_", name)}
        slots |= own
    return len(functions), len(slots)


def lines(trees: Path, names: list[str], work: Path) -> Iterator[str]:
    """Yield the lines of a table."""
    yield "| library | machine | functions | slots | reached | tests, CPU s | with slots | ratio |"
    yield "| --- | --- | --- | --- | --- | --- | --- | --- |"
    for name in names:
        for cross in (False, True) if BUILDS[name].emulated else (False,):
            one = measure(trees / name, work, cross=cross)
            times = f"{one.plain_seconds:.2f} | {one.seconds:.2f} | {one.seconds / one.plain_seconds:.2f}"
            machine = "aarch64" if cross else os.uname().machine
            yield f"| {name} | {machine} | {one.functions} | {one.slots} | {one.reached} | {times} |"


def main() -> None:
    with tempfile.TemporaryDirectory() as work:
        for line in lines(Path(sys.argv[1]), sys.argv[2:] or list(BUILDS), Path(work)):
            print(line, flush=True)


if __name__ == "__main__":
    main()
