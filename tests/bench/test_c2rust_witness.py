"""Agreement of the graphs of C libraries with their objects (BENCH_TREES), and the reader of these objects."""

import os
from pathlib import Path

import pytest

from tests.bench.c2rust_objects import NamedCall, calls_of_dump, read_object
from tests.bench.c2rust_recorder import parsed
from tests.bench.c2rust_recording import LIBRARIES
from tests.bench.c2rust_witness import compare, lines

TREES = os.environ.get("BENCH_TREES", "")
SYMBOLS = """
     3: 0000000000000000    14 FUNC    LOCAL  DEFAULT    4 helper
     4: 0000000000000000   106 FUNC    LOCAL  DEFAULT   13 run.localalias
     5: 0000000000000000    16 OBJECT  GLOBAL DEFAULT    6 table
     6: 0000000000000000   106 FUNC    GLOBAL DEFAULT   13 run
     7: 0000000000000000     0 NOTYPE  GLOBAL DEFAULT  UND other
"""
DISASSEMBLY = """
Disassembly of section .text.helper:

0000000000000000 <helper>:
helper():
/p/a.h:2
   0:\tpush   %rbp
   9:\tcall   0 <helper>
   e:\tret

Disassembly of section .text.run:

0000000000000000 <run.localalias>:
run():
/p/a.c:8 (discriminator 1)
   c:\tlea    0x0(%rip),%rax        # 13 <run+0x13>\tf: R_X86_64_PC32\t.text.taken-0x4
  1c:\tcall   21 <run+0x21>\t1d: R_X86_64_PC32\t.text.helper-0x4
  29:\tcall   *%rax
  3e:\tcall   43 <run+0x43>\t3f: R_X86_64_PLT32\tother-0x4
  44:\tcall   49 <run+0x49>\t45: R_X86_64_PC32\t.text.run.localalias-0x4
"""
DUMP = """
;; Function run (null)
;; enabled by -tree-original

{
  if (0)
    {
      never (1);
    }
}

;; Function helper (xxx)
;; enabled by -tree-original

helper ();
"""


def test_functions_of_an_object_have_the_file_of_their_first_line() -> None:
    assert read_object(SYMBOLS, DISASSEMBLY).files == {"helper": "/p/a.h", "run": "/p/a.c"}
    assert read_object(SYMBOLS, DISASSEMBLY).local == {"helper", "run.localalias"}


def test_relocated_and_recursive_calls_are_calls_but_addresses_are_not() -> None:
    calls = {("helper", "helper"), ("run", "helper"), ("run", "other"), ("run", "run")}

    assert read_object(SYMBOLS, DISASSEMBLY).calls == calls


def test_a_dump_of_trees_has_unreachable_calls() -> None:
    assert NamedCall("run", "never") in calls_of_dump(DUMP)
    assert NamedCall("helper", "helper") in calls_of_dump(DUMP)


def test_a_recorded_call_keeps_what_matters_for_parsing() -> None:
    words = ["-O2", "-I", "inc", "-DX=1", "-Wall", "-o", "a.o", "-c", "a.c", "-lm", "lib.a", "b.c", "-MF", "a.d"]

    assert parsed(words) == (["a.c", "b.c"], ["-I", "inc", "-DX=1", "-Wall"])


@pytest.mark.bench
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("name", LIBRARIES)
def test_the_graph_agrees_with_the_objects_of_the_library(name: str, tmp_path: Path) -> None:
    if not TREES:
        pytest.skip("set BENCH_TREES to a directory of C libraries")

    found = compare(name, Path(TREES, name), tmp_path)

    print(*lines(found), sep="\n")
    assert not found.not_compiled and not any(unit.errors for unit in found.units)
    assert min(found.agreements) >= 99
    assert not found.unexplained
