"""The roots of a call graph: the functions that no other function calls.

A function whose address is taken but that is never called directly, such as a callback, is a root.
"""

from jarvis_workers.c2rust.symbol import SymbolGraph


def find_roots(graph: SymbolGraph) -> tuple[int, ...]:
    """Return the ids of the functions that no other function calls; if there are none, the ids of all functions."""
    functions = [symbol.id for symbol in graph.symbols if symbol.category == "function"]
    called = {edge.callee for edge in graph.edges if edge.kind == "call" and edge.caller != edge.callee}
    return tuple(number for number in functions if number not in called) or tuple(functions)
