"""Link the translation units of a project into one graph of symbols.

Units may be passed in any order and are not stored.  A definition is identified by its key and its file: the definition
of a `static inline` function of a header is one symbol however many units include it, while types, weak functions or
duplicates of the same name in several files are separate symbols.  A reference is resolved to the definition in its own
unit, as by a compiler, else to the strong one, as by a linker, else to the first by file.
"""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import NamedTuple, TypeVar

from jarvis_workers.c2rust.symbol import Edge, Symbol, SymbolGraph
from jarvis_workers.paths import shown
from jarvis_workers.source.clang.unit import ReferenceKind, SymbolDefinition, Unit, UnitSymbol

# A fact of a symbol that its file defines more than once, such as under different conditions.
SEVERAL_DEFINITIONS = "several_definitions"
WEAK = "weak"
DEFINITION_FIELDS = tuple(one.name for one in fields(SymbolDefinition))

Key = TypeVar("Key", bound=Hashable)


def link_units(units: Iterable[Unit]) -> SymbolGraph:
    """Return the symbols that the units define and the edges between them, independent of the order of the units.

    A function or variable that no unit defines is not a symbol, but remains a name in `calls`; a type that no unit
    defines is a symbol that is not `complete`.  If a key has several definitions, the keys of their symbols begin with
    their files.
    """
    linker = _Linker()
    for unit in units:
        linker.add(unit)
    return linker.graph()


class _ReadingRank(NamedTuple):
    """The sort key that selects one of several parses of a definition: first those without errors, then by position."""

    errors: bool
    unit: bytes
    arguments_hash: str
    line: int
    column: int


class _DefinitionPlace(NamedTuple):
    """Identifies a definition."""

    key: str
    file: bytes


@dataclass(slots=True)
class _Reading:
    """The best parse of a definition so far; `several` is set if its file contains more than one."""

    rank: _ReadingRank
    symbol: UnitSymbol
    several: bool = False

    def offer(self, rank: _ReadingRank, symbol: UnitSymbol) -> None:
        self.several |= symbol.extent != self.symbol.extent
        if rank < self.rank or (rank == self.rank and repr(symbol) < repr(self.symbol)):
            self.rank, self.symbol = rank, symbol


class _Linker:
    """Collects definitions and uses; a use refers to a place, or to a key that other units define."""

    def __init__(self) -> None:
        self._definitions: dict[_DefinitionPlace, _Reading] = {}
        self._declared_types: dict[str, _Reading] = {}
        self._names: dict[str, str] = {}
        self._uses: defaultdict[tuple[_DefinitionPlace, ReferenceKind], set[_DefinitionPlace | str]] = defaultdict(set)

    def add(self, unit: Unit) -> None:
        errors = bool(unit.errors)
        own: dict[str, _DefinitionPlace] = {}
        weak: set[str] = set()
        for symbol in unit.symbols:
            _lower(self._names, symbol.key, symbol.name)
            rank = _ReadingRank(errors, unit.file, unit.arguments_hash, symbol.extent.line, symbol.extent.column)
            if symbol.is_definition:
                place = _DefinitionPlace(symbol.key, symbol.extent.file)
                _offer(self._definitions, place, rank, symbol)
                own.setdefault(symbol.key, place)
                if WEAK in symbol.facts:
                    weak.add(symbol.key)
            elif symbol.category == "type":
                _offer(self._declared_types, symbol.key, rank._replace(unit=symbol.extent.file), symbol)
        for key, name in unit.externals:
            _lower(self._names, key, name)
        for source, target, kind in unit.references:
            if source in own:
                self._uses[own[source], kind].add(target if target in weak else own.get(target, target))

    def graph(self) -> SymbolGraph:
        linked = self._link()
        incomplete = {key: place for key, place in linked.items() if place not in self._definitions}
        readings = self._definitions | {place: self._declared_types[key] for key, place in incomplete.items()}
        places = sorted(readings, key=lambda place: (*readings[place].symbol.extent[:3], place.key))
        ids = {place: number for number, place in enumerate(places, 1)}
        shared = {key for key, count in Counter(place.key for place in places).items() if count > 1}
        calls = self._calls()
        symbols = []
        for place in places:
            symbol = _symbol(ids[place], readings[place], calls.get(place, ()), place in self._definitions)
            symbols.append(replace(symbol, key=f"{shown(place.file)}#{place.key}") if place.key in shared else symbol)
        return SymbolGraph(tuple(symbols), self._edges(ids, linked))

    def _link(self) -> dict[str, _DefinitionPlace]:
        """Return the definition that the linker chooses for each key: strong before weak, then first by file name."""
        linked: dict[str, _DefinitionPlace] = {}
        for place in sorted(self._definitions, key=lambda place: (place.key, self._is_weak(place), place.file)):
            linked.setdefault(place.key, place)
        for key, reading in self._declared_types.items():
            linked.setdefault(key, _DefinitionPlace(key, reading.symbol.extent.file))
        return linked

    def _is_weak(self, place: _DefinitionPlace) -> bool:
        return WEAK in self._definitions[place].symbol.facts

    def _calls(self) -> dict[_DefinitionPlace, tuple[str, ...]]:
        return {
            source: tuple(sorted({self._names.get(_key(target), "") for target in targets} - {""}))
            for (source, kind), targets in self._uses.items()
            if kind == "call"
        }

    def _edges(self, ids: Mapping[_DefinitionPlace, int], linked: Mapping[str, _DefinitionPlace]) -> tuple[Edge, ...]:
        """Return the edges; if a symbol calls a function, there is no further edge for the function's address."""
        edges = set()
        for (source, kind), targets in self._uses.items():
            for target in targets:
                place = linked.get(target) if isinstance(target, str) else target
                if place is not None:
                    edges.add(Edge(ids[source], ids[place], kind))
        return tuple(
            sorted(edge for edge in edges if edge.kind != "address" or edge._replace(kind="call") not in edges)
        )


def _offer(readings: dict[Key, _Reading], key: Key, rank: _ReadingRank, symbol: UnitSymbol) -> None:
    """Store the reading if it is the first or the best."""
    if key in readings:
        readings[key].offer(rank, symbol)
    else:
        readings[key] = _Reading(rank, symbol)


def _lower(names: dict[str, str], key: str, name: str) -> None:
    if name < names.setdefault(key, name):
        names[key] = name


def _key(target: _DefinitionPlace | str) -> str:
    return target if isinstance(target, str) else target.key


def _symbol(number: int, reading: _Reading, calls: tuple[str, ...], defined: bool) -> Symbol:
    found = {name: getattr(reading.symbol, name) for name in DEFINITION_FIELDS}
    several = {SEVERAL_DEFINITIONS} if reading.several and defined else set()
    return Symbol(
        **found | {"facts": tuple(sorted({*reading.symbol.facts, *several}))},
        id=number,
        calls=calls,
        complete=defined and not reading.rank.errors,
        arguments_hash=reading.rank.arguments_hash,
    )
