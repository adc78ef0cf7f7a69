"""Pictures of graphs: small ones whole, large ones by file, and what is left out."""

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from jarvis_workers.c2rust.dot import dot_lines
from jarvis_workers.c2rust.runs.pictures import MISSING, DotFile, DrawingLimits, draw_files, draw_project
from jarvis_workers.c2rust.symbol import SymbolGraph
from tests.c2rust.graphs import graph_of, large_graph
from tests.toolchain.test_graphviz import real_dot, stand_in

# Copies the source to the picture, which is faster than drawing.
COPY = "import shutil, sys\nshutil.copy(sys.argv[4], sys.argv[3])"


def written(graph: SymbolGraph, folder: Path) -> Path:
    path = folder / "symbols_graph.dot"
    path.write_text("".join(dot_lines(graph)))
    return path


def test_a_small_project_is_one_png(tmp_path: Path) -> None:
    graph = graph_of(["main", "log"], [(1, 2)])
    pictures = draw_project(graph, written(graph, tmp_path), real_dot())

    assert (pictures.paths, pictures.remarks) == ([tmp_path / "symbols_graph.png"], [])
    assert pictures.paths[0].read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_a_large_project_is_a_clustered_svg_for_each_file(tmp_path: Path) -> None:
    graph = large_graph(400, 1_000)
    pictures = draw_project(graph, written(graph, tmp_path), stand_in(tmp_path, COPY))
    files = {symbol.extent.file for symbol in graph.symbols if symbol.category == "function"}

    assert len(pictures.paths) == len(files) == 17
    assert pictures.remarks == [
        f"400 functions are too many for one picture: one picture per source file is in {tmp_path}/symbols_graph_files"
    ]
    assert pictures.paths[0].name == "0001_src_read_close_3_c.svg"
    assert "subgraph cluster_2" in pictures.paths[0].read_text()


def test_without_graphviz_one_line_says_so_and_the_dot_stays(tmp_path: Path) -> None:
    graph = large_graph(400, 1_000)
    dot = written(graph, tmp_path)
    pictures = draw_project(graph, dot, None)

    assert (pictures.paths, pictures.remarks) == ([], [MISSING])
    assert list(tmp_path.iterdir()) == [dot]


def test_a_graph_that_is_too_slow_is_left_out_and_its_dot_stays(tmp_path: Path) -> None:
    graph = graph_of(["main", "log"], [(1, 2)])
    dot = written(graph, tmp_path)
    slow = stand_in(tmp_path, "import signal\nsignal.pause()")
    pictures = draw_project(graph, dot, slow, DrawingLimits(seconds=0.2))

    assert pictures.paths == []
    assert pictures.remarks == [f"no picture: dot took longer than 0.2 s for symbols_graph.dot; the DOT file is {dot}"]
    assert dot.exists()


def test_a_sub_graph_with_too_many_nodes_has_a_remark(tmp_path: Path) -> None:
    dots = [DotFile(written(graph_of(["main"]), tmp_path), 301)]
    pictures = draw_files(dots, "png", stand_in(tmp_path, COPY))

    assert pictures.remarks == ["no picture of symbols_graph.dot: 301 functions, at most 300"]


def test_drawing_stops_when_its_time_is_over(tmp_path: Path) -> None:
    ticks: Iterator[int] = count(0, 10)
    limits = DrawingLimits(total_seconds=45, clock=lambda: float(next(ticks)))
    dots = [DotFile(written(graph_of(["main"]), tmp_path), 1)] * 10
    pictures = draw_files(dots, "png", stand_in(tmp_path, COPY), limits)

    assert len(pictures.paths) == 4
    assert pictures.remarks == [
        "6 more graphs have no picture: the time limit or the maximum number of pictures was reached"
    ]
