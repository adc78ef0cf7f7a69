"""Symbol graphs for tests: small ones by hand, large ones generated."""

import random
from collections.abc import Mapping, Sequence

from jarvis_workers.c2rust.symbol import Edge, OrderStep, Symbol, SymbolGraph
from jarvis_workers.source.clang.unit import Category, Extent, ReferenceKind

SEED = 16
FACTS = ("internal", "variadic", "goto", "indirect_calls")
WORDS = ("read", "write", "open", "close", "parse", "node", "table", "page", "cursor", "hash", "buffer", "state")


def symbol(
    number: int, name: str, *, file: bytes = b"src/main.c", line: int = 0, lines: int = 10, **rest: object
) -> Symbol:
    """Return a function symbol; `rest` are other fields."""
    first = line or number * 20
    extent = Extent(file, first, 1, first + lines - 1, 1)
    return Symbol(
        **{
            "id": number,
            "key": f"c:@F@{name}@{number}",
            "category": "function",
            "kind": "function",
            "name": name,
            "qualified_name": name,
            "extent": extent,
            "language": "c",
            "signature": f"int {name}(int)",
        }
        | rest
    )


def graph_of(
    names: Sequence[str], calls: Sequence[tuple[int, int]] = (), **fields: Mapping[str, object]
) -> SymbolGraph:
    """Return a graph of functions, numbered from 1, with calls between them; `fields` are additional fields by name."""
    symbols = tuple(symbol(number, name, **fields.get(name, {})) for number, name in enumerate(names, start=1))
    return SymbolGraph(symbols, tuple(sorted(Edge(caller, callee, "call") for caller, callee in calls)))


def order_of(graph: SymbolGraph, *cycles: tuple[int, ...]) -> list[OrderStep]:
    """Return the symbols one by one, and the given cycles as one step each."""
    cyclic = {one for cycle in cycles for one in cycle}
    return [*(OrderStep((one.id,)) for one in graph.symbols if one.id not in cyclic), *map(OrderStep, cycles)]


def large_graph(functions: int, edges: int) -> SymbolGraph:
    """Return a graph with these numbers of functions and edges, in files of 25 functions, and with other symbols."""
    chance = random.Random(SEED)
    symbols = [_drawn(chance, number, functions) for number in range(1, functions * 3 // 2 + 1)]
    found: set[Edge] = set()
    while len(found) < edges:
        caller = chance.randint(1, functions)
        if chance.random() < 0.8:
            callee, kind = max(1, min(functions, int(caller - chance.expovariate(1 / 60)))), _kind("call")
        else:
            callee = chance.randint(functions + 1, len(symbols))
            kind = _kind({"type": "type", "global": "global", "macro": "macro"}[symbols[callee - 1].category])
        found.add(Edge(caller, callee, kind))
    return SymbolGraph(tuple(symbols), tuple(sorted(found)))


def _kind(name: str) -> ReferenceKind:
    return name  # type: ignore[return-value]


def _drawn(chance: random.Random, number: int, functions: int) -> Symbol:
    file = f"src/{WORDS[number // 250 % len(WORDS)]}/{WORDS[number // 25 % len(WORDS)]}_{number // 25}.c".encode()
    name = f"{chance.choice(WORDS)}_{chance.choice(WORDS)}_{number}"
    category: Category = "function"
    if number > functions:
        category = chance.choice(("type", "global", "macro"))
    return symbol(
        number,
        name,
        file=file,
        line=1 + number % 25 * 40,
        lines=1 + int(chance.expovariate(1 / 30)),
        category=category,
        kind={"type": "struct", "global": "variable"}.get(category, category),
        facts=tuple(fact for fact in FACTS if category == "function" and chance.random() < 0.1),
        calls=("malloc", "memcpy", "free")[: chance.randint(0, 3)],
    )
