"""The symbols of a C project and their edges: insert, read and delete the graph of a run."""

import json
from typing import Any

import sqlalchemy as sa

from jarvis_workers.c2rust.symbol import Edge, Symbol, SymbolGraph
from jarvis_workers.paths import as_text, from_shown, from_text, shown
from jarvis_workers.source.clang.unit import CParameter, Extent
from jarvis_workers.store.session import Session
from jarvis_workers.store.sql import storable
from jarvis_workers.store.symbol_tables import EDGE, SYMBOL

INSERT_ROWS = 2_000
READ_ROWS = 2_000


def insert(session: Session, run_id: str, graph: SymbolGraph) -> None:
    """Insert the symbols and edges of a run."""
    for start in range(0, len(graph.symbols), INSERT_ROWS):
        some = graph.symbols[start : start + INSERT_ROWS]
        session.execute(sa.insert(SYMBOL), [{"run_id": run_id, **_row(symbol)} for symbol in some])
    for start in range(0, len(graph.edges), INSERT_ROWS):
        edges = graph.edges[start : start + INSERT_ROWS]
        session.execute(sa.insert(EDGE), [{"run_id": run_id, **edge._asdict()} for edge in edges])


def delete(session: Session, run_id: str) -> None:
    """Delete the symbols and edges of a run."""
    session.execute(sa.delete(EDGE).where(EDGE.c.run_id == run_id))
    session.execute(sa.delete(SYMBOL).where(SYMBOL.c.run_id == run_id))


def read(session: Session, run_id: str) -> SymbolGraph:
    """Return the symbols and edges of a run; the graph is empty if the run has not been linked yet."""
    rows = session.execute(sa.select(SYMBOL).where(SYMBOL.c.run_id == run_id).order_by(SYMBOL.c.number))
    columns = EDGE.c.caller, EDGE.c.callee, EDGE.c.kind
    edges = session.execute(sa.select(*columns).where(EDGE.c.run_id == run_id).order_by(*columns))
    symbols = tuple(_symbol(row) for row in rows.yield_per(READ_ROWS).mappings())
    return SymbolGraph(symbols, tuple(sorted(Edge(*edge) for edge in edges.yield_per(READ_ROWS))))


def count(session: Session, run_id: str) -> int:
    """Return the number of symbols of a run."""
    ours = sa.select(sa.func.count()).select_from(SYMBOL).where(SYMBOL.c.run_id == run_id)
    return int(session.execute(ours).scalar_one())


def _row(symbol: Symbol) -> dict[str, Any]:
    extent = symbol.extent
    return {
        "number": symbol.id,
        "key": shown(from_text(symbol.key)),
        "category": symbol.category,
        "kind": symbol.kind,
        "name": storable(symbol.name),
        "qualified_name": storable(symbol.qualified_name),
        "file": shown(extent.file),
        "file_raw": extent.file,
        "line": extent.line,
        "column": extent.column,
        "end_line": extent.end_line,
        "end_column": extent.end_column,
        "language": symbol.language,
        "signature": storable(symbol.signature),
        "return_type": storable(symbol.return_type),
        "params": json.dumps(symbol.parameters),
        "source_hash": symbol.source_hash,
        "facts": json.dumps(symbol.facts),
        "calls": json.dumps(symbol.calls),
        "complete": symbol.complete,
        "arguments_hash": symbol.arguments_hash,
    }


def _symbol(row: Any) -> Symbol:
    return Symbol(
        id=row["number"],
        key=as_text(from_shown(row["key"])),
        category=row["category"],
        kind=row["kind"],
        name=row["name"],
        qualified_name=row["qualified_name"],
        extent=Extent(row["file_raw"], row["line"], row["column"], row["end_line"], row["end_column"]),
        language=row["language"],
        signature=row["signature"],
        return_type=row["return_type"],
        parameters=tuple(CParameter(*one) for one in json.loads(row["params"])),
        source_hash=row["source_hash"],
        facts=tuple(json.loads(row["facts"])),
        calls=tuple(json.loads(row["calls"])),
        complete=row["complete"],
        arguments_hash=row["arguments_hash"],
    )
