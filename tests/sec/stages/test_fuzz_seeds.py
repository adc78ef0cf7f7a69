"""The seeds of fuzzing: inputs of a project's own tests, out of its archive."""

import io
import tarfile

from jarvis_workers.sandbox.mutations import INPUT_MAX
from jarvis_workers.sec.stages.fuzz import OF_A_TYPE, SEEDS_MAX, seeds_of


def packed(files: dict[str, bytes], links: dict[str, str] | None = None) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
        for name, other in (links or {}).items():
            entry = tarfile.TarInfo(name)
            entry.type, entry.linkname = tarfile.SYMTYPE, other
            archive.addfile(entry)
    return buffer.getvalue()


def test_inputs_of_fuzzing_come_before_those_of_tests_and_small_ones_first() -> None:
    files = {"t/b.cue": b"longer", "t/a.cue": b"one", "fuzz/corpus/x": b"the longest", "src/a.cue": b"no test"}

    assert seeds_of(packed(files)) == (b"the longest", b"one", b"longer")


def test_code_build_files_and_large_files_are_no_seeds() -> None:
    files = {
        "tests/a.c": b"int x;",
        "tests/Makefile": b"all:",
        "tests/CMakeLists.txt": b"add_test()",
        "tests/run.sh": b"#!/bin/sh",
        "tests/empty": b"",
        "tests/large": bytes(INPUT_MAX + 1),
        "tests/.hidden": b"x",
    }

    assert seeds_of(packed(files, {"tests/link": "/etc/passwd"})) == ()


def test_seeds_are_bounded_for_each_type_and_in_all() -> None:
    of_a_type = {f"tests/{number}.cue": b"%d" % number for number in range(100)}
    of_many = {f"tests/{number}.t{number}": b"%d" % number for number in range(200)}

    assert len(seeds_of(packed(of_a_type))) == OF_A_TYPE
    assert len(seeds_of(packed(of_many))) == SEEDS_MAX


def test_a_run_without_an_archive_has_no_seeds() -> None:
    assert seeds_of(b"") == ()
