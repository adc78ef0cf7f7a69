"""Write the graphs of a scanned project: DOT of the whole graph and of each root, drawn by graphviz on request."""

from dataclasses import dataclass
from pathlib import Path

from jarvis_workers.c2rust.dot import subgraphs
from jarvis_workers.c2rust.roots import find_roots
from jarvis_workers.c2rust.runs.graph_files import GraphSelection, graph_text, write_subgraphs
from jarvis_workers.c2rust.runs.pictures import DotFile, Pictures, dot_program, draw_files, draw_project
from jarvis_workers.c2rust.runs.project_files import ProjectSymbols, directory_of, read_project
from jarvis_workers.errors import UsageError
from jarvis_workers.runs.atomic_write import write_whole

DOT_FILE, SUBGRAPHS = "graph.dot", "subgraphs"


@dataclass(frozen=True, slots=True)
class GraphRequest:
    """The requested files: DOT of the project in `dot`, DOT of each root in the directory `subgraphs`, and pictures."""

    dot: Path | None = None
    subgraphs: Path | None = None
    png: bool = True

    def __bool__(self) -> bool:
        return self.dot is not None or self.subgraphs is not None


def default_dot(root: Path) -> Path:
    return directory_of(root) / DOT_FILE


def default_subgraphs(root: Path) -> Path:
    return directory_of(root) / SUBGRAPHS


def write_graphs(root: Path, request: GraphRequest) -> Pictures:
    """Write the graphs of the symbols in the files of a project; return all paths, and a line for each missing picture.

    Raises UsageError.
    """
    project = read_project(root)
    written = Pictures(remarks=list(project.remarks))
    program = dot_program()
    if request.dot is not None:
        _add(written, Pictures([_write_dot(project, request.dot)]))
        if request.png:
            _add(written, draw_project(project.graph, request.dot, program))
    if request.subgraphs is not None:
        paths = write_subgraphs(project.graph, request.subgraphs)
        _add(written, Pictures(list(paths)))
        if request.png:
            sizes = (len(below.symbols) for below in subgraphs(project.graph, find_roots(project.graph)))
            _add(written, draw_files(map(DotFile, paths, sizes), "png", program))
    return written


def _write_dot(project: ProjectSymbols, path: Path) -> Path:
    try:
        return write_whole(path, graph_text(project, GraphSelection()))
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from error


def _add(total: Pictures, more: Pictures) -> None:
    total.paths += more.paths
    total.remarks += [remark for remark in more.remarks if remark not in total.remarks]
