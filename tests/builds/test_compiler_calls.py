"""Calls of a compiler are recorded by hand: `CC="jarvis c2rust cc" make`."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from jarvis_workers.builds.compile_sources import CompileOptions, compile_commands_of
from jarvis_workers.builds.compiler_calls import COMPILER, RECORD, record_and_compile
from jarvis_workers.errors import UsageError

# A compiler that does not exist: the call is recorded, and this process remains.
NO_COMPILER = {COMPILER: "/nonexistent/gcc", RECORD: "record"}


def record(place: Path, *arguments: str) -> None:
    assert record_and_compile(arguments, NO_COMPILER, place) == 127


def units(tree: Path) -> list[tuple[bytes, tuple[str, ...]]]:
    plan = compile_commands_of(tree, CompileOptions(tree / "record"))
    return [(command.file, command.arguments) for command in plan.commands]


def test_each_source_of_a_call_is_an_entry_that_can_be_read(tmp_path: Path) -> None:
    for name in ("a b.c", "c.cc", "d.c"):
        (tmp_path / name).write_text("")
    (tmp_path / "all.rsp").write_text('"-DX=1 2" d.c')

    record(tmp_path, "-DN", "a b.c", "c.cc", "-o", "prog")
    record(tmp_path, "-c", "@all.rsp")

    assert units(tmp_path) == [(b"a b.c", ("-DN",)), (b"c.cc", ("-DN",)), (b"d.c", ("-DX=1 2",))]


def test_what_is_no_compilation_of_the_project_is_not_recorded(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text("")
    for arguments in (["--version"], ["-E", "a.c"], ["-c", "conftest.c"], ["a.o", "-o", "a"], ["-x", "c", "-"]):
        record(tmp_path, *arguments)

    assert not (tmp_path / "record").exists()


def test_without_a_directory_or_over_a_foreign_file_nothing_is_compiled(tmp_path: Path) -> None:
    (tmp_path / "record").mkdir()
    (tmp_path / "record/compile_commands.json").write_text("[]")

    with pytest.raises(UsageError, match="JARVIS_C2RUST_RECORD is not set"):
        record_and_compile(["-c", "a.c"], {}, tmp_path)
    with pytest.raises(UsageError, match="not written by jarvis c2rust cc"):
        record(tmp_path, "-c", "a.c")


@pytest.mark.slow
def test_a_parallel_make_with_the_command_as_its_compiler_is_recorded(tmp_path: Path) -> None:
    names = [f"f{number}.c" for number in range(6)]
    for name in names:
        (tmp_path / name).write_text("int x;\n")
    (tmp_path / "Makefile").write_text(f"all: {' '.join(names).replace('.c', '.o')}\n")
    command = [*("make", "-j3"), f"CC={sys.executable} -m jarvis_cli c2rust cc", "CFLAGS=-DX -O1"]

    subprocess.run(command, cwd=tmp_path, env=os.environ | {RECORD: str(tmp_path / "record")}, check=True)

    assert units(tmp_path) == [(name.encode(), ("-DX", "-O1")) for name in names]
    assert all((tmp_path / name.replace(".c", ".o")).exists() for name in names)
