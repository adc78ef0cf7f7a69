"""Programs with every construct that slots must not disturb print what they print without, by each compiler."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from jarvis_workers.c2rust.bench.slot_compiler import compile_with_slots
from tests.support.servers import missing

DATA = Path(__file__).parents[2] / "data" / "c2rust" / "slots"
SOURCES = (str(DATA / "constructs.c"), str(DATA / "others.c"))
AARCH64 = "aarch64-linux-gnu-gcc"
EMULATOR = ("qemu-aarch64", "-L", "/usr/aarch64-linux-gnu")
ALWAYS = ("-pthread", "-w")

# gcc's nested function, and the resolver of the ifunc, have no slot. A function with an assembler name has that one,
# `main` the name of its file.
STATIC = (
    *("first", "before", "last", "helper", "triple", "recursive", "same_name_inside", "generic", "give_up", "compare"),
    *("count", "nested", "clamp", "main"),
)
EXTERNAL = (
    *("same_name", "real_name", "hidden_inside", "original", "classic", "make_big", "add_pairs", "sum_of", "mean_of"),
    *("scale", "ten_floats", "overridden", "jump_back", "interpret", "report", "other_same_name"),
)
REACHED = {*(f"constructs__{name}" for name in STATIC), *EXTERNAL, "others__same_name_inside"}


def built(compiler: str, flags: tuple[str, ...], place: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Build the program plainly and with slots; return both commands."""
    needed = [compiler, *([EMULATOR[0]] if compiler == AARCH64 else [])]
    for tool in needed:
        if not shutil.which(tool):
            missing(tool)
    subprocess.run([compiler, *ALWAYS, *flags, *SOURCES, "-o", place / "plain"], check=True)
    own = {"JARVIS_C2RUST_CC": compiler, "JARVIS_C2RUST_ROOT": str(DATA), "JARVIS_C2RUST_CACHE": str(place)}
    words = [*ALWAYS, *flags, *SOURCES, "-o", str(place / "slots")]
    assert compile_with_slots(words, {**os.environ, **own}) == 0
    emulator = EMULATOR if compiler == AARCH64 else ()
    return (*emulator, str(place / "plain")), (*emulator, str(place / "slots"))


def output(command: tuple[str, ...], **variables: str) -> str:
    process = subprocess.run(command, env={**os.environ, **variables}, stdout=subprocess.PIPE, text=True, check=True)
    return process.stdout


@pytest.mark.sample(0, 7)
@pytest.mark.parametrize("compiler", ["gcc", "clang", AARCH64])
@pytest.mark.parametrize(
    "flags",
    [
        ("-O0",),
        ("-O1", "-fPIC", "-g"),
        ("-O2", "-fno-pie", "-no-pie", "-fcommon"),
        ("-O3", "-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections", "-flto"),
        ("-Os", "-fvisibility=hidden", "-fstack-protector-strong", "-Wl,-z,now"),
    ],
    ids=lambda flags: flags[0],
)
def test_a_program_of_every_construct_prints_the_same(compiler: str, flags: tuple[str, ...], tmp_path: Path):
    plain, slots = built(compiler, flags, tmp_path)
    log = tmp_path / "log"

    expected = output(plain)

    assert output(slots) == expected
    assert output(slots, JARVIS_C2RUST_TRACE="*", JARVIS_C2RUST_LOG=str(log)) == expected
    rows = [line.split("\t") for line in log.read_text().splitlines()]
    assert {row[3] for row in rows if row[0] == "reached"} == REACHED


@pytest.mark.slow
@pytest.mark.parametrize("flags", [("-static",), ("-fcf-protection=full", "-O2"), ("-fsanitize=address", "-O1")])
def test_other_ways_to_build(flags: tuple[str, ...], tmp_path: Path):
    plain, slots = built("gcc", flags, tmp_path)

    assert output(slots, JARVIS_C2RUST_TRACE="*") == output(plain)
