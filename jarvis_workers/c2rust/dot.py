"""Call graphs in DOT, the language of graphviz.

Names and paths come from the scanned tree and are escaped: they cannot end a label, add an attribute, or act as an
escape or entity of graphviz.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator

from jarvis_workers.c2rust.symbol import Edge, Symbol, SymbolGraph
from jarvis_workers.escape import visible
from jarvis_workers.paths import shown
from jarvis_workers.source.clang.unit import Category

_LABEL_MAX = 120
_STEM_MAX = 80
_FUNCTIONS: tuple[Category, ...] = ("function",)
_SHAPES: dict[Category, str] = {"function": "box", "type": "ellipse", "global": "cylinder", "macro": "hexagon"}


def dot_lines(
    graph: SymbolGraph, categories: Collection[Category] = _FUNCTIONS, *, clustered: bool = False
) -> Iterator[str]:
    """Yield the graph of the symbols in these categories; if `clustered`, the symbols of a file are in a box.

    A dashed edge means that the address of a function is taken; dashed nodes are incomplete symbols.
    """
    symbols = [symbol for symbol in graph.symbols if symbol.category in categories]
    ids = {symbol.id for symbol in symbols}
    yield "digraph symbols {\n  rankdir=LR;\n  node [fontsize=10];\n"
    yield from _clusters(symbols) if clustered else map(_node, symbols)
    yield from (_edge(edge) for edge in graph.edges if edge.caller in ids and edge.callee in ids)
    yield "}\n"


def subgraphs(graph: SymbolGraph, roots: Iterable[int]) -> Iterator[SymbolGraph]:
    """Yield the functions that each root reaches by calls and taken addresses, including itself, and their edges."""
    edges: defaultdict[int, list[Edge]] = defaultdict(list)
    for edge in graph.edges:
        if edge.kind in ("call", "address") and graph.by_id[edge.callee].category == "function":
            edges[edge.caller].append(edge)
    for root in roots:
        reached, waiting = {root}, [root]
        while waiting:
            for edge in edges.get(waiting.pop(), ()):
                if edge.callee not in reached:
                    reached.add(edge.callee)
                    waiting.append(edge.callee)
        ids = sorted(reached)
        inside = tuple(edge for number in ids for edge in edges.get(number, ()))
        yield SymbolGraph(tuple(graph.by_id[number] for number in ids), inside)


def subgraph_stem(root: Symbol) -> str:
    """Return the name, without suffix, of the file for the sub-graph of a root; unique by the id."""
    name = root.qualified_name.replace("::", "__")
    safe = "".join(letter if letter.isascii() and (letter.isalnum() or letter in "_-") else "_" for letter in name)
    return f"subgraph_root_{root.id}_{safe[:_STEM_MAX]}"


def _clusters(symbols: Iterable[Symbol]) -> Iterator[str]:
    files: defaultdict[bytes, list[Symbol]] = defaultdict(list)
    for symbol in symbols:
        files[symbol.extent.file].append(symbol)
    for number, (file, members) in enumerate(sorted(files.items()), 1):
        yield f"  subgraph cluster_{number} {{\n    label={quoted(shown(file))};\n"
        yield from (f"  {_node(symbol)}" for symbol in members)
        yield "  }\n"


def _node(symbol: Symbol) -> str:
    place = f"{shown(symbol.extent.file)}:{symbol.extent.line}"
    style = "" if symbol.complete else ", style=dashed"
    label = quoted(symbol.qualified_name or symbol.name)
    return f"  n{symbol.id} [label={label}, tooltip={quoted(place)}, shape={_SHAPES[symbol.category]}{style}];\n"


def _edge(edge: Edge) -> str:
    style = " [style=dashed]" if edge.kind == "address" else ""
    return f"  n{edge.caller} -> n{edge.callee}{style};\n"


def quoted(text: str) -> str:
    """Return the text as a quoted DOT string, truncated if it is long."""
    short = visible(text)
    short = short if len(short) <= _LABEL_MAX else f"{short[: _LABEL_MAX - 1]}…"
    for letter, escape in (("\\", "\\\\"), ('"', '\\"'), ("&", "&amp;")):
        short = short.replace(letter, escape)
    return f'"{short}"'
