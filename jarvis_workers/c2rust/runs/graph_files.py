"""Write the graph of a project to a file, in the format of its suffix: DOT, a picture, or an interactive page."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from jarvis_workers.c2rust.dot import dot_lines, subgraph_stem, subgraphs
from jarvis_workers.c2rust.queries import named_symbols
from jarvis_workers.c2rust.report.body import ScanBody
from jarvis_workers.c2rust.report.page import PageFacts, render_page
from jarvis_workers.c2rust.report.wording import words_in_reports
from jarvis_workers.c2rust.roots import find_roots
from jarvis_workers.c2rust.runs.pictures import NODES_MAX, dot_program
from jarvis_workers.c2rust.runs.project_files import ProjectSymbols
from jarvis_workers.c2rust.symbol import Edge, OrderStep, Symbol, SymbolGraph
from jarvis_workers.errors import GivenUp, UsageError
from jarvis_workers.runs.atomic_write import write_whole
from jarvis_workers.source.clang.unit import Category
from jarvis_workers.toolchain.graphviz import SECONDS, Form, draw

Pieces = Iterator[str]
PICTURES: Mapping[str, Form] = {".png": "png", ".svg": "svg"}


@dataclass(frozen=True, slots=True)
class GraphSelection:
    """The part of a graph to write: everything, or only the functions that `roots` reach.

    `types` includes types; `clustered` groups the nodes of DOT by file. `lang` is the language of a page.
    """

    roots: tuple[str, ...] = ()
    clustered: bool = False
    types: bool = False
    lang: str = "en"

    @property
    def categories(self) -> tuple[Category, ...]:
        return ("function", "type") if self.types else ("function",)


def graph_text(project: ProjectSymbols, selection: GraphSelection, suffix: str = ".dot") -> Pieces:
    """Yield the graph in the format of a suffix; raises UsageError for an unknown suffix or root."""
    if suffix not in _FORMATS:
        raise UsageError(f'unknown graph format "{suffix}"; use one of {", ".join((*_FORMATS, *PICTURES))}')
    return _FORMATS[suffix](project, selected_graph(project.graph, selection.roots), selection)


def write_graph(project: ProjectSymbols, selection: GraphSelection, output: Path) -> Path:
    """Write the graph atomically. Raises UsageError, including for a picture that graphviz cannot draw."""
    try:
        if output.suffix in PICTURES:
            return _draw(project, selection, output)
        return write_whole(output, graph_text(project, selection, output.suffix))
    except OSError as error:
        raise UsageError(f"cannot write {output}: {error.strerror}") from error


def write_subgraphs(graph: SymbolGraph, directory: Path) -> list[Path]:
    """Write the sub-graph of each root as DOT; return the paths, in the order of the roots."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        roots = find_roots(graph)
        return [
            write_whole(directory / f"{subgraph_stem(graph.by_id[root])}.dot", dot_lines(below))
            for root, below in zip(roots, subgraphs(graph, roots), strict=True)
        ]
    except OSError as error:
        raise UsageError(f"cannot write to {directory}: {error.strerror}") from error


def selected_graph(graph: SymbolGraph, roots: tuple[str, ...]) -> SymbolGraph:
    """Return the graph that the functions with these names reach, or the whole graph if there are no names."""
    if not roots:
        return graph
    symbols: dict[int, Symbol] = {}
    edges: set[Edge] = set()
    chosen = [root.id for name in roots for root in named_symbols(graph, name, "function")]
    for below in subgraphs(graph, chosen):
        symbols |= below.by_id
        edges |= {*below.edges}
    return SymbolGraph(tuple(symbols[number] for number in sorted(symbols)), tuple(sorted(edges)))


def _draw(project: ProjectSymbols, selection: GraphSelection, output: Path) -> Path:
    program = dot_program()
    if program is None:
        raise UsageError("graphviz is not installed (apt install graphviz); -o FILE.dot and FILE.html do not need it")
    graph = selected_graph(project.graph, selection.roots)
    nodes = sum(symbol.category in selection.categories for symbol in graph.symbols)
    advice = "narrow the graph with --root, or use -o FILE.html"
    if nodes > NODES_MAX:
        raise UsageError(f"{nodes:,} symbols are too many for a picture (maximum {NODES_MAX}): {advice}")
    with TemporaryDirectory(prefix="jarvis-graph-") as directory:
        dot = write_whole(Path(directory, "graph.dot"), _dot(project, graph, selection))
        try:
            draw(program, dot, output, PICTURES[output.suffix], SECONDS)
        except GivenUp as problem:
            raise UsageError(f"{problem}; {advice}") from problem
    return output


def _dot(_: ProjectSymbols, graph: SymbolGraph, selection: GraphSelection) -> Pieces:
    return dot_lines(graph, selection.categories, clustered=selection.clustered)


def _page(project: ProjectSymbols, graph: SymbolGraph, selection: GraphSelection) -> Pieces:
    order = [OrderStep(ids) for step in project.order.steps if (ids := tuple(n for n in step.ids if n in graph.by_id))]
    root = project.root.absolute()
    report = project.report or ScanBody()
    facts = PageFacts(
        title=root.name or str(root),
        details=(str(root),),
        units=report.units,
        not_checked=report.not_checked,
        warnings=(*report.warnings, *project.warnings),
    )
    yield render_page(graph, order, find_roots(graph), facts, say=words_in_reports(selection.lang)).decode()


_FORMATS: Mapping[str, Callable[[ProjectSymbols, SymbolGraph, GraphSelection], Pieces]] = {
    ".dot": _dot,
    ".gv": _dot,
    ".html": _page,
}
