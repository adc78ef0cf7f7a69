"""Write the lines of symbols.jsonl and symbols_raw.jsonl: a JSON object per symbol.

The fields are those of seed 001, "核心产物与文件约定", and of its original; `source_hash`, `facts` and `complete` are
added; functions that libraries replace also have `lib_replacement`.  Paths that are not valid UTF-8 contain `\\xNN` for
invalid bytes, see `jarvis_workers.paths`.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from jarvis_workers.c2rust.symbol import OrderStep, Symbol, SymbolGraph
from jarvis_workers.paths import shown


def symbol_lines(graph: SymbolGraph) -> Iterator[str]:
    """Yield a line per symbol, in the order of ids."""
    references = reference_ids(graph)
    for symbol in graph.symbols:
        yield _line(symbol_fields(symbol, references[symbol.id]))


def order_lines(graph: SymbolGraph, steps: Iterable[OrderStep]) -> Iterator[str]:
    """Yield a line of translation_order.jsonl per step: `ids`, and `items` with the fields of each symbol."""
    references = reference_ids(graph)
    for step in steps:
        items = [symbol_fields(graph.by_id[number], references[number]) for number in step.ids]
        yield _line({"ids": list(step.ids), "items": items})


def name_lines(names: Iterable[str]) -> Iterator[str]:
    """Yield the lines of roots.txt: one name per line, without duplicates, in the given order."""
    return (f"{name}\n" for name in dict.fromkeys(names))


def symbol_fields(symbol: Symbol, references: Sequence[int]) -> dict[str, object]:
    """Return the fields of a line; `references` are the ids of the symbols that the symbol uses."""
    extent = symbol.extent
    return {
        "id": symbol.id,
        "key": symbol.key,
        "category": symbol.category,
        "kind": symbol.kind,
        "name": symbol.name,
        "qualified_name": symbol.qualified_name,
        "signature": symbol.signature,
        "return_type": symbol.return_type,
        "params": [{"name": one.name, "type": one.type} for one in symbol.parameters],
        "ref": symbol.replacement.references if symbol.replacement else list(references),
        "calls": list(symbol.calls),
        "language": symbol.language,
        "file": shown(extent.file),
        "start_line": extent.line,
        "start_col": extent.column,
        "end_line": extent.end_line,
        "end_col": extent.end_column,
        "compile_args_hash": symbol.arguments_hash,
        "source_hash": symbol.source_hash,
        "facts": list(symbol.facts),
        "complete": symbol.complete,
        **({"lib_replacement": symbol.replacement.fields()} if symbol.replacement else {}),
    }


def reference_ids(graph: SymbolGraph) -> defaultdict[int, list[int]]:
    """Return the sorted ids of the symbols that each symbol uses."""
    references: defaultdict[int, list[int]] = defaultdict(list)
    for caller, callee in sorted({edge[:2] for edge in graph.edges}):
        references[caller].append(callee)
    return references


def _line(fields: dict[str, object]) -> str:
    """Return a line of valid UTF-8: a lone surrogate becomes a JSON escape."""
    return json.dumps(fields, ensure_ascii=False).encode("utf-8", "backslashreplace").decode() + "\n"
