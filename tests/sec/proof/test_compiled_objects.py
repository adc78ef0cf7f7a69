"""Which functions call which, from the symbols and relocations of object files and libraries."""

from jarvis_workers.sec.bench.proof_objects import read_objects

SYMBOLS = """\
objects/0.o: run T 0 10
objects/0.o: step T 10 10
objects/1.o: main T 0 10
objects/1.o: usage T 10 10
lib.a[other.o]: helper T 0 10
lib.a[first.o]: enter T 0 10
"""
RELOCATIONS = """\
File: objects/0.o
Relocation section '.rela.text.run' at offset 0x1 contains 1 entry:
0000000000000005  0000000300000004 R_X86_64_PLT32         0000000000000000 step - 4
File: objects/1.o
Relocation section '.rela.text.main' at offset 0x1 contains 2 entries:
0000000000000005  0000000300000004 R_X86_64_PLT32         0000000000000000 run - 4
0000000000000015  0000000300000004 R_X86_64_PLT32         0000000000000000 usage - 4
File: lib.a(first.o)
Relocation section '.rela.text.enter' at offset 0x1 contains 1 entry:
0000000000000005  0000000300000004 R_X86_64_PLT32         0000000000000000 helper - 4
"""


def test_functions_are_shared_that_another_object_calls_or_that_belong_to_a_program() -> None:
    tree = read_objects(SYMBOLS, RELOCATIONS, {})
    assert tree.callers == {"step": {"run"}, "run": {"main"}, "usage": {"main"}, "helper": {"enter"}}
    assert tree.shared == {"run", "main", "usage", "helper"}
