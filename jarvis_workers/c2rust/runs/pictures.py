"""Pictures of a call graph, drawn by graphviz and written next to its DOT files.

Graphviz is optional: if it is missing or too slow, a remark is added and the DOT file remains.  A graph of more than
NODES_MAX functions is too large for a picture: instead, there is one picture for each file of the project, with the
direct neighbours of its functions.
"""

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from jarvis_workers.c2rust.dot import dot_lines
from jarvis_workers.c2rust.symbol import Edge, Symbol, SymbolGraph
from jarvis_workers.errors import GivenUp
from jarvis_workers.paths import shown
from jarvis_workers.runs.atomic_write import write_whole
from jarvis_workers.toolchain.graphviz import SECONDS, Form, draw, find_dot

NODES_MAX = 300
PICTURES_MAX = 500
TOTAL_SECONDS = 300.0
STEM_MAX = 80
MISSING = "no pictures: graphviz is not installed (apt install graphviz); the DOT files are complete"


@dataclass(frozen=True, slots=True)
class DotFile:
    """A graph in DOT, and the number of its nodes."""

    path: Path
    nodes: int


@dataclass(slots=True)
class Pictures:
    """The files that were written, and a line for each graph that has no picture."""

    paths: list[Path] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class DrawingLimits:
    """Time limits of one picture and of all pictures, in seconds."""

    seconds: float = SECONDS
    total_seconds: float = TOTAL_SECONDS
    clock: Callable[[], float] = time.monotonic


WITHIN = DrawingLimits()


def dot_program() -> str | None:
    """Return the path of `dot`, or None if graphviz is not installed."""
    return find_dot()


def draw_project(graph: SymbolGraph, dot: Path, program: str | None, limits: DrawingLimits = WITHIN) -> Pictures:
    """Draw the functions of a project, whose DOT is already in `dot`; `program` is the path of graphviz's `dot`.

    Up to NODES_MAX functions are drawn as one PNG beside `dot`, more as a clustered SVG for each file in the directory
    `<stem>_files`.
    """
    functions = [symbol for symbol in graph.symbols if symbol.category == "function"]
    if len(functions) <= NODES_MAX or program is None:
        return draw_files([DotFile(dot, len(functions))], "png", program, limits)
    folder = dot.with_name(f"{dot.stem}_files")
    folder.mkdir(exist_ok=True)
    pictures = draw_files(_dots_by_file(graph, functions, folder), "svg", program, limits)
    pictures.remarks.insert(
        0, f"{len(functions):,} functions are too many for one picture: one picture per source file is in {folder}"
    )
    return pictures


def draw_files(dots: Iterable[DotFile], form: Form, program: str | None, limits: DrawingLimits = WITHIN) -> Pictures:
    """Draw each graph beside its file; a graph of more than NODES_MAX nodes only gets a remark."""
    pictures = Pictures()
    if program is None:
        pictures.remarks.append(MISSING)
        return pictures
    end, skipped = limits.clock() + limits.total_seconds, 0
    for dot in dots:
        left = end - limits.clock()
        if left <= 0 or len(pictures.paths) >= PICTURES_MAX:
            skipped += 1
        elif dot.nodes > NODES_MAX:
            pictures.remarks.append(f"no picture of {dot.path.name}: {dot.nodes:,} functions, at most {NODES_MAX}")
        else:
            _draw(dot.path, form, program, min(limits.seconds, left), pictures)
    if skipped:
        pictures.remarks.append(
            f"{skipped:,} more graphs have no picture: the time limit or the maximum number of pictures was reached"
        )
    return pictures


def _draw(dot: Path, form: Form, program: str, seconds: float, pictures: Pictures) -> None:
    target = dot.with_suffix(f".{form}")
    try:
        draw(program, dot, target, form, seconds)
    except GivenUp as reason:
        pictures.remarks.append(f"no picture: {reason}; the DOT file is {dot}")
    else:
        pictures.paths.append(target)


def _dots_by_file(graph: SymbolGraph, functions: Iterable[Symbol], folder: Path) -> Iterator[DotFile]:
    """Write the DOT of each file with functions, clustered by file; names are unique by their number."""
    members: defaultdict[bytes, list[Symbol]] = defaultdict(list)
    for symbol in functions:
        members[symbol.extent.file].append(symbol)
    incident = _incident_edges(graph)
    for number, (file, own) in enumerate(sorted(members.items()), start=1):
        part = _surroundings(graph, own, incident)
        path = folder / f"{number:04d}_{_plain(shown(file))}.dot"
        write_whole(path, dot_lines(part, clustered=True))
        yield DotFile(path, len(part.symbols))


def _incident_edges(graph: SymbolGraph) -> Mapping[int, list[Edge]]:
    """Return the edges between functions, indexed by both ends."""
    edges: defaultdict[int, list[Edge]] = defaultdict(list)
    for edge in graph.edges:
        if edge.kind in ("call", "address"):
            edges[edge.caller].append(edge)
            edges[edge.callee].append(edge)
    return edges


def _surroundings(graph: SymbolGraph, functions: Sequence[Symbol], incident: Mapping[int, list[Edge]]) -> SymbolGraph:
    """Return the functions with their callers and callees, or without these if there are more than NODES_MAX."""
    own = {symbol.id for symbol in functions}
    edges = sorted({edge for number in own for edge in incident.get(number, ())})
    ids = own | {one for edge in edges for one in edge[:2] if graph.by_id[one].category == "function"}
    if len(ids) > NODES_MAX:
        ids = own
    symbols = tuple(graph.by_id[number] for number in sorted(ids))
    return SymbolGraph(symbols, tuple(edge for edge in edges if edge.caller in ids and edge.callee in ids))


def _plain(text: str) -> str:
    safe = "".join(letter if letter.isascii() and (letter.isalnum() or letter in "_-") else "_" for letter in text)
    return safe[-STEM_MAX:]
