"""The gates refuse most of a seeded random sample of mutants of C functions."""

import subprocess
from pathlib import Path

import pytest

from jarvis_workers.c2rust.project import read_project
from jarvis_workers.source.clang.c_types import UnitDefinitions
from jarvis_workers.source.clang.definitions import read_definitions
from jarvis_workers.source.clang.unit import CompileCommand
from jarvis_workers.toolchain.headers import builtin_headers
from tests.bench.c2rust_mutants import measure, table
from tests.bench.c2rust_mutations import draw_mutations
from tests.bench.shared_statics import PREFIX, share_statics, static_symbols
from tests.support.servers import require

SOURCE = """int g(int, int);
int f(int *p, int n, unsigned long size)
{
    int all = 0;
    for (int i = 0; i < n; i++)
        all += p[i];
    if (size == sizeof(int))
        p++;
    switch (n) {
    case 3: return g(n, all);
    }
    return *(p - n) + n % 2;
}
"""
EXPECTED = {
    (4, "0 → 1"),
    *((5, text) for text in ("0 → 1", "< → <=", "x++ → x--", "negate the condition of for")),
    *((6, text) for text in ("+= → -=", "drop statement with +=")),
    *((7, text) for text in ("== → !=", "negate the condition of if")),
    *((8, text) for text in ("x++ → x--", "drop statement with x++")),
    (10, "swap arguments 1 and 2"),
    *((12, text) for text in ("- → +", "+ → -", "% → /", "2 → 3", "2 → 1")),
}


@pytest.fixture(scope="module")
def unit(tmp_path_factory: pytest.TempPathFactory) -> UnitDefinitions:
    root = tmp_path_factory.mktemp("mutants")
    (root / "a.c").write_text(SOURCE)
    return read_definitions(root, CompileCommand(b"a.c", b"", ()), builtin_headers(None))


def drawn(unit: UnitDefinitions, seed: str) -> list[tuple[int, str]]:
    return [(one.line, one.text) for one in draw_mutations(unit.definitions[0].tree, unit.types, seed)]


def test_mutations_change_constants_operators_conditions_statements_and_arguments(unit: UnitDefinitions) -> None:
    assert set(drawn(unit, "1")) == EXPECTED


def test_the_seed_decides_the_order_of_mutations(unit: UnitDefinitions) -> None:
    assert drawn(unit, "1") == drawn(unit, "1")
    assert drawn(unit, "1") != drawn(unit, "2")


STATICS = b"""static int count = 1, sizes[] = {1, 2}; static const int most = 3;
static int size(int at); // declared
int first(void) { return size(0); }
static int size(int at) { return at < 0 ? size(-at) : sizes[at & 1]; }
int next(void) { static int calls; return calls++ < most ? count++ : size(0); }
"""


def test_a_library_in_c_uses_static_variables_and_functions_of_the_program(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_bytes(STATICS)
    unit = read_definitions(tmp_path, CompileCommand(b"a.c", b"", ()), builtin_headers(None))

    symbols = static_symbols(read_project([unit]).items)
    (tmp_path / "a.c").write_bytes(share_statics(STATICS, "a.c", symbols["a.c"]))

    subprocess.run(["cc", "-c", "-fPIC", "-O0", "a.c"], cwd=tmp_path, check=True)
    listed = subprocess.run(["nm", "-u", "a.o"], cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    names = {word for word in listed.split() if word.startswith(PREFIX)}
    assert names == {f"{PREFIX}a__{name}" for name in ("count", "sizes", "most", "size")}


@pytest.mark.slow
def test_gates_refuse_mutants_and_accept_unchanged_bodies(tmp_path: Path) -> None:
    require("cc", "make", "cargo")
    plain = Path(__file__).parents[1] / "data" / "c2rust" / "plain"

    mutants = list(measure(plain, 12, 1, tmp_path, unchanged=False))
    unchanged = list(measure(plain, 0, 1, tmp_path, unchanged=True))

    assert len(mutants) == 12
    assert sum(bool(one.refused_by) for one in mutants) >= 9, [one for one in mutants if not one.refused_by]
    assert {one.refused_by for one in unchanged} == {""}
    assert list(table(mutants))[-1].startswith("| all | 12 |")
