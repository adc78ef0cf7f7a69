"""Metrics about lowered functions: what they read, index, copy and allocate. Reading begins with what does most of it.

Outside data is what a library function reads (`dataflow.library.inputs`), what a function named like one receives, what
is converted from an external byte order, and memory of bytes that a parameter points to. It spreads through assignments
without regard to their order, to variables and members by name.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from jarvis_workers.dataflow import ir
from jarvis_workers.dataflow.ir.decode import function as decode
from jarvis_workers.dataflow.library import allocation, copies, inputs, number_reader, parsing, wrapped
from jarvis_workers.dataflow.library.model import Handlers
from jarvis_workers.dataflow.queries.ast_queries import leaves, walk
from jarvis_workers.dataflow.queries.name_heuristics import RECEIVERS, listed, words_of
from jarvis_workers.dataflow.state.sizes import BYTES

# How often outside data is spread through all assignments of a function.
SPREADS = 3
# A function that is named like one that reads has at least a place and a size.
RECEIVER_ARGUMENTS = 2
BYTE_SHIFTS = (8, 16, 24)
ACCESSES = (ir.IndexExpr, ir.DerefExpr)
MEMBERS = (ir.MemberExpr, ir.ArrowExpr)


def _names(handlers: Handlers) -> frozenset[str]:
    return frozenset(name for names, _ in handlers for name in names)


SOURCES = _names(inputs.HANDLERS)
CONVERTERS = frozenset(listed(parsing.SWAPS))
COPIES = _names(copies.HANDLERS) | frozenset(listed("sprintf vsprintf snprintf vsnprintf"))
ALLOCATORS = frozenset(listed(f"{allocation.MALLOC} {allocation.CALLOC} {allocation.REALLOC}"))


class FunctionMetrics(NamedTuple):
    """What a function does; the numbers count places in its code.

    It `reads` outside data, and `decodes` numbers of an external format; `copies` and `allocations` have a computed
    length. `tainted` are accesses at a variable index or through a moving pointer, copies, allocations and loop
    conditions that outside data controls.
    """

    name: str
    line: int
    end: int
    reads: int
    decodes: int
    loops: int
    copies: int
    allocations: int
    tainted: int


def metrics_of(model: Mapping[str, Any]) -> Iterator[FunctionMetrics]:
    """Yield the metrics of the functions of a file (`dataflow.frontend.model`), in its order."""
    for stored in model["functions"]:
        yield _MetricCounter(decode(stored), model["typedefs"]).metrics()


class _MetricCounter:
    """Counts the places of a function's code."""

    def __init__(self, function: ir.LoweredFunction, typedefs: Mapping[str, str]) -> None:
        self._function, self._typedefs = function, typedefs
        self._nodes = list(walk(function.body))
        self._calls = [node for node in self._nodes if isinstance(node, ir.CallExpr)]
        self._outside = self._outside_names()

    def metrics(self) -> FunctionMetrics:
        """Return the metrics."""
        function, nodes, calls = self._function, self._nodes, self._calls
        accesses = [node for node in nodes if _is_variable(node)]
        copied = [node for node in calls if _name(node) in COPIES and node.args and _is_computed(node.args[-1])]
        allocated = [node for node in calls if _allocates(_name(node)) and any(map(_is_computed, node.args))]
        conditions = [node.condition for node in nodes if isinstance(node, ir.LoopStmt)]
        controlled = (*accesses, *copied, *allocated, *(one for one in conditions if one is not None))
        return FunctionMetrics(
            name=function.name,
            line=function.line,
            end=function.end,
            reads=sum(map(_is_source, calls)),
            decodes=sum(map(_decodes, nodes)),
            loops=len(conditions),
            copies=len(copied),
            allocations=len(allocated),
            tainted=sum(_depends(code, self._outside) for code in controlled),
        )

    def _outside_names(self) -> Collection[str]:
        """Return the names of the variables and members that may hold outside data."""
        result = {name for name, kind, _ in self._function.params if self._is_bytes(kind)}
        for call in self._calls:
            if _is_source(call):
                result.update(name for part in call.args for name in _place(part))
        assignments = list(_assigned_places(self._nodes))
        for _ in range(SPREADS):
            before = len(result)
            for places, value in assignments:
                if _brings_in(value) or _depends(value, result):
                    result |= places
            if len(result) == before:
                break
        return result

    def _is_bytes(self, kind: str) -> bool:
        base = kind[:-1]
        return kind.endswith("*") and self._typedefs.get(base, base) in BYTES


def _assigned_places(nodes: Sequence[Any]) -> Iterator[tuple[set[str], Any]]:
    """Yield the names that each assignment sets, and its value."""
    for node in nodes:
        if isinstance(node, ir.AssignExpr):
            yield _place(node.target), node.value
        elif isinstance(node, ir.DeclStmt) and node.init is not None:
            yield {node.name}, node.init


def _place(code: Any) -> set[str]:
    """Return the name of the variable or member that an expression refers to; that of a member begins with a dot."""
    for _ in range(NESTED_MAX):
        if isinstance(code, ir.NameExpr):
            return {code.name}
        if isinstance(code, MEMBERS):
            return {f".{code.member}"}
        inner = INNER.get(type(code))
        if inner is None:
            return set()
        code = getattr(code, inner)
    return set()


NESTED_MAX = 50
INNER: Mapping[Any, str] = {
    ir.AddressExpr: "operand",
    ir.CastExpr: "operand",
    ir.IndexExpr: "base",
    ir.DerefExpr: "pointer",
    ir.BinaryExpr: "left",
}


def _depends(code: Any, names: Collection[str]) -> bool:
    parts = (code,)
    if any(name in names for name in _leaf_names(code)):
        return True
    return any(isinstance(node, MEMBERS) and f".{node.member}" in names for node in walk(parts))


def _brings_in(code: Any) -> bool:
    """Return whether an expression reads outside data, or converts it from an external format."""
    return any(isinstance(node, ir.CallExpr) and (_is_source(node) or _converts(node)) for node in walk((code,)))


def _is_source(call: ir.CallExpr) -> bool:
    name = _name(call)
    return name in SOURCES or (len(call.args) >= RECEIVER_ARGUMENTS and not RECEIVERS.isdisjoint(words_of(name)))


def _converts(call: ir.CallExpr) -> bool:
    name = _name(call)
    return name in CONVERTERS or (name != "" and number_reader(name) is not None)


def _decodes(node: Any) -> bool:
    """Return whether a node converts a number, or shifts a byte of memory to its place in one."""
    if isinstance(node, ir.CallExpr):
        return _converts(node)
    if not isinstance(node, ir.BinaryExpr) or node.op != "<<" or not isinstance(node.right, ir.NumberExpr):
        return False
    return node.right.value in BYTE_SHIFTS and any(isinstance(part, ACCESSES) for part in walk((node.left,)))


def _is_variable(node: Any) -> bool:
    """Return whether a node accesses memory at a variable index, or through a pointer that is computed or moves."""
    if isinstance(node, ir.IndexExpr):
        return not isinstance(node.subscript, ir.NumberExpr)
    return isinstance(node, ir.DerefExpr) and isinstance(node.pointer, (ir.UpdateExpr, ir.BinaryExpr))


def _is_computed(size: Any) -> bool:
    """Return whether a size is neither constant nor that of a type."""
    return not isinstance(size, ir.SizeofExpr) and any(True for _ in _leaf_names(size))


def _allocates(name: str) -> bool:
    return name in ALLOCATORS or (name != "" and wrapped(name) is not None and "dup" not in name.lower())


def _leaf_names(code: Any) -> Iterator[str]:
    return (leaf.name for leaf in leaves((code,)) if isinstance(leaf, ir.NameExpr))


def _name(call: ir.CallExpr) -> str:
    return call.callee.name if isinstance(call.callee, ir.NameExpr) else ""
