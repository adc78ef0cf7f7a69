"""Value types of a whole project: symbols with ids, the edges between them, and their graph."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from jarvis_workers.c2rust.library_replacement import LibraryReplacement
from jarvis_workers.source.clang.unit import ReferenceKind, SymbolDefinition


@dataclass(frozen=True, slots=True, kw_only=True)
class Symbol(SymbolDefinition):
    """A symbol of the project.

    Ids count from 1 in the order of file, line, column and key.  `calls` are the names of all functions that it calls,
    including those outside the project.  A symbol is not `complete` if the unit that it was read from had errors, or if
    no unit defines it.  `arguments_hash` belongs to the unit that it was read from, the first by path if there are
    several.  Libraries stand for a function with a `replacement`, which has no edges.
    """

    id: int
    calls: tuple[str, ...] = ()
    complete: bool = True
    arguments_hash: str = ""
    replacement: LibraryReplacement | None = None


class Edge(NamedTuple):
    """The symbol `caller` uses the symbol `callee`."""

    caller: int
    callee: int
    kind: ReferenceKind


@dataclass(frozen=True, slots=True)
class SymbolGraph:
    """The symbols of a project in the order of their ids, and the sorted edges between them."""

    symbols: tuple[Symbol, ...] = ()
    edges: tuple[Edge, ...] = ()
    by_id: Mapping[int, Symbol] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "by_id", {symbol.id: symbol for symbol in self.symbols})


class OrderStep(NamedTuple):
    """A step of the translation order: the ids of symbols to translate together, more than one for a cycle."""

    ids: tuple[int, ...]
