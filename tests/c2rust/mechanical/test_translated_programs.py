"""Translated programs do what their C originals do."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from jarvis_workers.c2rust.bench.slot_compiler import compile_with_slots
from tests.c2rust.mechanical.rust_programs import (
    TranslatedProgram,
    bench_library,
    compile_c,
    output,
    rust_program,
    translated_program,
)
from tests.support.servers import missing

DATA = Path(__file__).parents[2] / "data" / "c2rust"
CONSTRUCTS = DATA / "constructs"
SOURCES = ("expressions.c", "main.c", "statements.c", "types.c")
CSMITH_HEADER = DATA / "csmith" / "csmith.h"
PROGRAMS = 12
# Small, so that compiling them in Rust takes a second.
CSMITH = ("csmith", "--max-funcs", "4", "--max-block-depth", "3", "--no-argc")
# A program of csmith may not end.
SECONDS = 5


@pytest.fixture(scope="module")
def constructs() -> TranslatedProgram:
    return translated_program(CONSTRUCTS, SOURCES)


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> str:
    binary = tmp_path_factory.mktemp("c") / "constructs"
    return output(compile_c([CONSTRUCTS / name for name in SOURCES], binary))


@pytest.mark.slow
def test_no_construct_is_refused(constructs: TranslatedProgram) -> None:
    refused = {name: result for name, result in constructs.results.items() if hasattr(result, "reason")}

    assert refused == {}
    assert len(constructs.project.functions) == 39


@pytest.mark.slow
def test_functions_in_rust_do_what_they_do_in_c(constructs: TranslatedProgram, expected: str, tmp_path: Path) -> None:
    own = {"JARVIS_C2RUST_CC": "gcc", "JARVIS_C2RUST_ROOT": str(CONSTRUCTS), "JARVIS_C2RUST_CACHE": str(tmp_path)}
    words = ["-w", "-O1", *(str(CONSTRUCTS / name) for name in SOURCES), "-lm", "-o", str(tmp_path / "slots")]
    assert compile_with_slots(words, {**os.environ, **own}) == 0
    library = bench_library(constructs, tmp_path / "bench")
    log = tmp_path / "log"
    choice = {"JARVIS_C2RUST_LIBRARY": str(library), "JARVIS_C2RUST_RUST": "*", "JARVIS_C2RUST_LOG": str(log)}

    assert output(tmp_path / "slots", **choice) == expected
    count = str(len(constructs.project.functions))
    assert log.read_text().split()[-2:] == [count, count]


@pytest.mark.slow
@pytest.mark.parametrize("optimisation", ["0", "2"])
def test_a_program_in_rust_alone_does_what_it_does_in_c(
    constructs: TranslatedProgram, expected: str, tmp_path: Path, optimisation: str
) -> None:
    assert output(rust_program(constructs, tmp_path, optimisation)) == expected


@pytest.mark.slow
def test_random_programs_in_rust_compute_the_checksum_of_c(tmp_path: Path) -> None:
    if not shutil.which("csmith"):
        missing("csmith")
    (tmp_path / "csmith.h").write_bytes(CSMITH_HEADER.read_bytes())
    compared, seed = 0, 0
    while compared < PROGRAMS:
        seed += 1
        assert seed < 2 * PROGRAMS
        compared += _is_equal(tmp_path, seed)


def _is_equal(root: Path, seed: int) -> bool:
    """Compare a program, unless it does not end in C."""
    subprocess.run([*CSMITH, "--seed", str(seed), "-o", "a.c"], cwd=root, check=True, capture_output=True)
    binary = compile_c([root / "a.c"], root / "in_c")
    try:
        expected = output(binary, seconds=SECONDS)
    except subprocess.TimeoutExpired:
        return False
    program = translated_program(root, ["a.c"])
    assert {name: one for name, one in program.results.items() if hasattr(one, "reason")} == {}, seed
    assert output(rust_program(program, root)) == expected, seed
    return True
