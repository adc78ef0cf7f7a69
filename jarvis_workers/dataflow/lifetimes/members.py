"""What a structure owns and the function that releases it leaves: a member that another function of the file allocates.

Nothing in the file releases the member, and the release function, with what it calls, does not mention it.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from jarvis_workers.dataflow import ir
from jarvis_workers.dataflow.library import LIBRARY, wrapped
from jarvis_workers.dataflow.lifetimes.owners import LifetimeHit
from jarvis_workers.dataflow.member_uses import ENDS, MAKES, RELEASERS
from jarvis_workers.dataflow.queries.ast_queries import leaves, walk, without_casts
from jarvis_workers.dataflow.queries.name_heuristics import listed, only_reads, words_of
from jarvis_workers.dataflow.queries.pretty import text_of
from jarvis_workers.dataflow.state.definitions import Definitions

LEAK = "flow_memory_leak"
BY_ALLOCATOR, BY_NAME = 0.7, 0.5
# Words of what releases all that it has allocated, and of functions that return what somebody else owns.
POOLS = frozenset(listed("pool arena zone region obstack mempool gc talloc find get"))
DEEPEST = 3
# A member of the variable or parameter: its name, and the path from there.
Member = tuple[str, str]


class _Memory(NamedTuple):
    """Memory that a function stores in a member."""

    line: int
    place: str
    by: str
    sure: float


class _Ending(NamedTuple):
    """A function that releases members of its parameter; the line of the last such release."""

    function: ir.LoweredFunction
    parameter: str
    kind: str
    line: int


def forgotten_members(
    machine: Definitions, stored: Sequence[dict[str, Any]], unreleased: frozenset[str]
) -> Iterator[LifetimeHit]:
    """Yield those of the `unreleased` members that release functions of a file leave out."""
    named = [machine.own(one) for one in stored if ENDS.search(one["name"].encode())]
    endings = [ending for function in named if (ending := _ending(machine, function)) is not None]
    if not endings:
        return
    memory = _memory_of(machine, [machine.own(one) for one in stored], {ending.kind for ending in endings})
    for ending in endings:
        own = {path: one for (kind, path), one in memory.items() if kind == ending.kind and _last(path) in unreleased}
        mentioned = _mentioned(machine, ending.function, ending.parameter) if own else None
        if mentioned is None:
            continue
        for path, one in own.items():
            # What is beside it in a member may be a part of a union.
            if not mentioned & {*path.split(".")}:
                text = f"{ending.function.name} releases other members of {ending.kind.rstrip('*')}, not {_last(path)}"
                before = (one.line, f"{one.place} holds what {one.by} returns")
                yield LifetimeHit(LEAK, ending.line, one.sure, (before, (ending.line, text)))


def _last(path: str) -> str:
    return path.rpartition(".")[2]


def _member(e: ir.Expression) -> Member | None:
    """Return the variable and the path of a member of what it points to: ("p", "a.b") for `p->a.b`."""
    e, names = without_casts(e), list[str]()
    while isinstance(e, ir.MemberExpr):
        names.append(e.member)
        e = e.base
    if not isinstance(e, ir.ArrowExpr) or not isinstance(e.base, ir.NameExpr):
        return None
    return e.base.name, ".".join([e.member, *reversed(names)])


def _called(call: ir.CallExpr) -> str:
    """Return the name of a called function or method, empty if it has none."""
    match call.callee:
        case ir.NameExpr(name=name) | ir.MemberExpr(member=name) | ir.ArrowExpr(member=name):
            return name
    return ""


def _ending(machine: Definitions, function: ir.LoweredFunction) -> _Ending | None:
    """Return the parameter of which a function releases members, and with them the structure."""
    if function.partial:
        return None
    given = [
        (call.line, without_casts(part))
        for call in _calls(function)
        if RELEASERS.search(_called(call).encode())
        for part in call.args
    ]
    lines = {found[0]: line for line, part in given if (found := _member(_without_address(part))) is not None}
    for name, kind, *_ in function.params:
        kind = _pointer(machine, kind)
        is_whole = any(isinstance(part, ir.NameExpr) and part.name == name for _, part in given)
        is_pointer = kind.endswith("*") and not kind.endswith("**")
        if name in lines and is_pointer and (is_whole or _is_of(function, kind)):
            return _Ending(function, name, kind, lines[name])
    return None


def _is_of(function: ir.LoweredFunction, kind: str) -> bool:
    """Return whether the name of a function is that of a type, and a word that says that it ends."""
    *words, last = words_of(function.name)
    return ENDS.match(last.encode()) is not None and {*words} <= {*words_of(kind)}


def _memory_of(
    machine: Definitions, functions: Sequence[ir.LoweredFunction], kinds: set[str]
) -> dict[tuple[str, str], _Memory]:
    """Return what functions allocate and store in members of structures, by the type of the pointer and the path."""
    memory: dict[tuple[str, str], _Memory] = {}
    for function in functions:
        stores = [
            (node, found)
            for node in walk(function.body)
            if isinstance(node, ir.AssignExpr) and (found := _member(node.target)) is not None
        ]
        if not stores:
            continue
        declared = [node for node in walk(function.body) if isinstance(node, ir.DeclStmt)]
        types = {one.name: _pointer(machine, one.type) for one in function.params}
        types |= {one.name: _pointer(machine, one.type) for one in declared}
        for node, (name, path) in stores:
            kind, made = types.get(name, ""), without_casts(node.value)
            sure = _makes(made) if kind in kinds else 0.0
            if sure and _is_pointer(machine, kind.rstrip("*"), path):
                place = _Memory(node.line, text_of(node.target), text_of(made), sure)
                memory.setdefault((kind, path), place)
    return memory


def _pointer(machine: Definitions, kind: str) -> str:
    """Return the type of a pointer without names of typedefs."""
    kind = machine.plain(kind)
    return machine.plain(kind.rstrip("*")) + "*" * kind.count("*")


def _is_pointer(machine: Definitions, kind: str, path: str) -> bool:
    """Return whether a member is a pointer, or its type is not known."""
    for name in path.split("."):
        record = machine.type_named(kind)
        if record is None or name not in record.fields:
            return True
        kind = machine.plain(record.fields[name].type)
    return kind.endswith("*")


def _makes(e: ir.Expression) -> float:
    """Return how sure it is that an expression is memory that its owner has to release, 0 if it is not."""
    if not isinstance(e, ir.CallExpr) or not isinstance(e.callee, ir.NameExpr):
        return 0.0
    name = e.callee.name
    given = [one.name for one in leaves(e.args) if isinstance(one, ir.NameExpr)]
    given += [one.member for one in walk(e.args) if isinstance(one, (ir.ArrowExpr, ir.MemberExpr))]
    if not MAKES.search(name.encode()) or any(not POOLS.isdisjoint(words_of(one)) for one in (name, *given)):
        return 0.0
    return BY_ALLOCATOR if name in LIBRARY or wrapped(name) is not None else BY_NAME


def _mentioned(machine: Definitions, function: ir.LoweredFunction, name: str, deep: int = DEEPEST) -> set[str] | None:
    """Return the members that a function and its callees mention; None if unknown code gets the pointer `name`."""
    found = {node.member for node in walk(function.body) if isinstance(node, (ir.ArrowExpr, ir.MemberExpr))}
    # Who releases members knows nothing of the structure.
    releasers = {_called(call) for call in _calls(function) if any(_member(part) is not None for part in call.args)}
    if any(isinstance(node, ir.AssignExpr) and _is(node.value, name) for node in walk(function.body)):
        return None
    for call in _calls(function):
        place = next((number for number, part in enumerate(call.args) if _is(part, name)), None)
        called = _called(call)
        if place is None or called in releasers or called in LIBRARY or only_reads(called):
            continue
        callee, _ = machine.function(called) or (None, None)
        if callee is None or deep == 0 or place >= len(callee.params):
            return None
        inner = _mentioned(machine, callee, callee.params[place].name, deep - 1)
        if inner is None:
            return None
        found |= inner
    return found


def _calls(function: ir.LoweredFunction) -> Iterator[ir.CallExpr]:
    return (node for node in walk(function.body) if isinstance(node, ir.CallExpr))


def _is(e: ir.Expression, name: str) -> bool:
    """Return whether an expression is a variable, or its address."""
    e = _without_address(without_casts(e))
    return isinstance(e, ir.NameExpr) and e.name == name


def _without_address(e: ir.Expression) -> ir.Expression:
    return e.operand if isinstance(e, ir.AddressExpr) else e
