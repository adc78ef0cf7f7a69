"""The results for tables: the symbols of a project and their edges, and the outcome of a translation."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, NamedTuple, Self

from jarvis_workers.c2rust.conversion import Proof
from jarvis_workers.c2rust.symbol import Edge, Symbol, SymbolGraph
from jarvis_workers.paths import as_text, from_text
from jarvis_workers.source.clang.unit import CParameter, Extent
from jarvis_workers.store.domain_results import register_result


class SymbolResult(NamedTuple):
    """The symbol graph of a project."""

    graph: SymbolGraph

    def counts(self) -> Mapping[str, int]:
        """Return the numbers of symbols and edges."""
        return {"symbols": len(self.graph.symbols), "edges": len(self.graph.edges)}

    def encode(self) -> Any:
        """Return the JSON form, in which paths are text."""
        rows = [asdict(symbol) for symbol in self.graph.symbols]
        for row in rows:
            file, *place = row["extent"]
            row["extent"] = [as_text(file), *place]
        return rows, self.graph.edges

    @classmethod
    def decode(cls, content: Any) -> Self:
        """Decode the output of `encode`."""
        rows, edges = content
        return cls(SymbolGraph(tuple(map(_symbol, rows)), tuple(Edge(*edge) for edge in edges)))


def _symbol(row: dict[str, Any]) -> Symbol:
    file, *place = row["extent"]
    lists = {name: tuple(row[name]) for name in ("facts", "calls")}
    parameters = tuple(CParameter(*one) for one in row["parameters"])
    return Symbol(**{**row, **lists, "extent": Extent(from_text(file), *place), "parameters": parameters})


class TranslationResult(NamedTuple):
    """The proof of the body that a model wrote for a function, "none" if no answer was accepted.

    `pause_share` is the option of the run.
    """

    proof: Proof
    pause_share: float | None = None

    def counts(self) -> Mapping[str, int]:
        """Return the number of functions."""
        return {"functions": 1}

    def encode(self) -> Any:
        """Return the JSON form."""
        return list(self)

    @classmethod
    def decode(cls, content: Any) -> Self:
        """Decode the output of `encode`."""
        return cls(*content)


WRITERS = "jarvis_workers.c2rust.stages.result_writers"
register_result("c2rust.translation", TranslationResult, writer=f"{WRITERS}:write_translation")
register_result("c2rust.symbols", SymbolResult, writer=f"{WRITERS}:write_symbols")
