"""Graphviz as a child: pictures, time limit, memory limit, errors."""

import os
import select
import shutil
import sys
from pathlib import Path

import pytest

from jarvis_workers.errors import GivenUp
from jarvis_workers.toolchain.graphviz import draw, find_dot
from tests.support.servers import missing

GRAPH = "digraph g { a -> b; }\n"


def stand_in(folder: Path, code: str) -> str:
    """Write a program that runs Python code in place of `dot`."""
    program = folder / "dot"
    program.write_text(f"#!{sys.executable}\n{code}\n")
    program.chmod(0o755)
    return str(program)


def source_in(folder: Path, text: str = GRAPH) -> Path:
    path = folder / "graph.dot"
    path.write_text(text)
    return path


def real_dot() -> str:
    if shutil.which("dot") is None:
        missing("dot")
    return str(find_dot())


def test_dot_draws_png_and_svg(tmp_path: Path) -> None:
    program, source = real_dot(), source_in(tmp_path)
    draw(program, source, tmp_path / "graph.png", "png")
    draw(program, source, tmp_path / "graph.svg", "svg")

    assert (tmp_path / "graph.png").read_bytes().startswith(b"\x89PNG")
    assert b"<svg" in (tmp_path / "graph.svg").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["graph.dot", "graph.png", "graph.svg"]


def test_what_dot_refuses_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(GivenUp, match=r"\Adot failed on graph.dot: exit code 1, Error: .*\Z"):
        draw(real_dot(), source_in(tmp_path, "digraph {{{"), tmp_path / "graph.png", "png")
    assert not (tmp_path / "graph.png").exists()


def has_ended(pid: int) -> bool:
    """Wait for the end of a process, which may be no child of this one."""
    try:
        process = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([process], [], [], 60)[0])
    finally:
        os.close(process)


@pytest.mark.slow
def test_a_dot_that_hangs_is_killed_with_its_children(tmp_path: Path) -> None:
    program = tmp_path / "dot"
    program.write_text(f"#!/bin/sh\nsleep 600 &\necho $$ $! > '{tmp_path}/pids'\nwait\n")
    program.chmod(0o755)
    with pytest.raises(GivenUp, match=r"dot took longer than 8 s for graph\.dot"):
        draw(str(program), source_in(tmp_path), tmp_path / "graph.png", "png", seconds=8)

    assert all(has_ended(int(pid)) for pid in (tmp_path / "pids").read_text().split())
    assert not (tmp_path / "graph.png").exists()


def test_a_dot_that_takes_too_much_memory_fails(tmp_path: Path) -> None:
    code = "import sys\nsys.stdin.read()\nblock = bytearray(3_000_000_000)"
    with pytest.raises(GivenUp, match=r"dot failed on graph\.dot: exit code 1"):
        draw(stand_in(tmp_path, code), source_in(tmp_path), tmp_path / "graph.png", "png")


def test_a_program_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(GivenUp, match="cannot be started: no such program"):
        draw(str(tmp_path / "none"), source_in(tmp_path), tmp_path / "graph.png", "png")
