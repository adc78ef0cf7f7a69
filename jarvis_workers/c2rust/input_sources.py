"""Elements of a project for the inputs of its functions: records, literals, callbacks, arguments, structures.

A structure is created by a function that returns a pointer to one without taking one, or that stores such a pointer
through a pointer to a pointer.  It is initialized by a function that takes it as the first argument and assigns its
members; the more members, the more likely it is an initializer.  A member of such a structure may refer to a structure
of another type.  Global state is initialized by functions without parameters that assign globals.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from jarvis_workers.c2rust.mechanical.literals import code_units
from jarvis_workers.c2rust.project import Project, ProjectItem
from jarvis_workers.c2rust.signatures import ParameterMapping, propose_mappings
from jarvis_workers.source.clang.c_types import CType, Record
from jarvis_workers.source.clang.syntax_tree import SyntaxNode, walk

MOST_LITERAL = 80
MOST_CALLS = 16
# How often a maker is chosen, beside a preparer that assigns some members.
MAKER, MOST_WEIGHT = 16, 64
CHARACTER = CType("integer", "char", size=1, align=1)
TRANSPARENT = ("implicit_cast", "cast", "parentheses")

Row = tuple[int | bytes | None, ...]


class SetupFunction(NamedTuple):
    """A function of the project that an input may call before the function under test.

    `weight` is the relative frequency with which it is chosen. `parameter` is the index of the parameter that refers to
    the structure that it creates or initializes, -1 for its result.
    """

    slot: str
    key: str
    type: CType
    mappings: tuple[ParameterMapping, ...] = ()
    weight: int = 1
    parameter: int = -1


@dataclass(frozen=True)
class InputSources:
    """By record key: records, setup functions, and structures that point to the record (type and offset).

    By type: functions. By file: literals. By function key: mappings, and constant arguments of calls.
    """

    records: dict[str, Record] = field(default_factory=dict)
    literals: dict[bytes, tuple[bytes, ...]] = field(default_factory=dict)
    mappings: Mapping[str, tuple[ParameterMapping, ...]] = field(default_factory=dict)
    setups: dict[str, list[SetupFunction]] = field(default_factory=lambda: defaultdict(list))
    owners: dict[str, list[tuple[CType, int]]] = field(default_factory=lambda: defaultdict(list))
    starters: list[SetupFunction] = field(default_factory=list)
    functions: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    calls: dict[str, list[Row]] = field(default_factory=lambda: defaultdict(list))


def input_sources(project: Project) -> InputSources:
    """Return the input sources of a project."""
    sources = InputSources(mappings=propose_mappings(project.units))
    for unit in project.units:
        complete = {key: one for key, one in unit.records.items() if one.size >= 0 or key not in sources.records}
        sources.records.update(complete)
        sources.literals[unit.file] = _literals([one.tree for one in unit.definitions])
    for item in project.functions:
        _add_function(sources, item)
        _add_calls(sources, item.definition.tree)
    for key in list(sources.setups):
        _add_members(sources, key)
    return sources


def record_key(type_: CType | None) -> str:
    """Return the key of the record that a pointer refers to, or "" for other types."""
    target = type_.target if type_ and type_.kind == "pointer" else None
    return target.key if target and target.kind == "record" else ""


def _add_function(sources: InputSources, item: ProjectItem) -> None:
    type_, key = item.definition.type, item.definition.key
    sources.functions[type_.spelling].append(item.slot)
    setup = SetupFunction(item.slot, key, type_, tuple(sources.mappings.get(key, ())), MAKER)
    taken = [record_key(one) for one in type_.parameters]
    if type_.variadic or item.definition.name == "main":
        return
    if (made := record_key(type_.target)) and made not in taken:
        sources.setups[made].append(setup)
    for number, one in enumerate(type_.parameters):
        if (made := record_key(one.target)) and one.kind == "pointer" and not one.const and made not in taken:
            sources.setups[made].append(setup._replace(parameter=number))
    members, variables = _assigned(item.definition.tree)
    if taken and taken[0] and members:
        sources.setups[taken[0]].append(setup._replace(parameter=0, weight=min(members * members, MOST_WEIGHT)))
    if not type_.parameters and variables:
        sources.starters.append(setup._replace(weight=variables * variables))


def _assigned(tree: SyntaxNode) -> tuple[int, int]:
    """Return how many members of its first parameter a function assigns, and how many globals and their members."""
    first = next((node.local for node in walk(tree) if node.kind == "parameter"), -1)
    members, variables = set[str](), set[tuple[str, str]]()
    for node in walk(tree):
        left = node.children[0] if node.kind == "binary" and node.operator == "=" else None
        if left is None or left.kind not in ("member", "name"):
            continue
        names = [one for one in walk(left) if one.kind == "name"]
        if left.operator == "->" and any(one.local == first for one in names):
            members.add(left.name)
        variables.update((one.target, left.name) for one in names if one.target)
    return len(members), len(variables)


def _add_members(sources: InputSources, key: str) -> None:
    record = sources.records.get(key)
    owner = next((one for one in sources.setups[key]), None)
    if record is None or owner is None:
        return
    pointer = _pointer_to(record)
    for one in record.fields if record.kind == "struct" else ():
        if (inner := record_key(one.type)) and inner != key:
            sources.owners[inner].append((pointer, one.offset // 8))


def _pointer_to(record: Record) -> CType:
    target = CType("record", record.name, size=record.size, align=record.align, key=record.key)
    return CType("pointer", f"{record.name} *", size=8, align=8, target=target)


def _literals(trees: Sequence[SyntaxNode]) -> tuple[bytes, ...]:
    names = {node.name for tree in trees for node in walk(tree) if node.kind == "string"}
    return tuple(text for text in map(_text, sorted(names)) if 0 < len(text) <= MOST_LITERAL)


def _text(name: str) -> bytes:
    return bytes(unit & 255 for unit in code_units(name, CHARACTER)) if name.startswith('"') else b""


def _add_calls(sources: InputSources, tree: SyntaxNode) -> None:
    for node in walk(tree):
        callee, *arguments = node.children if node.kind == "call" else (None,)
        if callee is None or not (target := _bare(callee).target):
            continue
        row, rows = tuple(_constant(one) for one in arguments), sources.calls[target]
        if any(one is not None for one in row) and row not in rows and len(rows) < MOST_CALLS:
            rows.append(row)


def _bare(node: SyntaxNode) -> SyntaxNode:
    """Return an expression without casts and parentheses."""
    while node.kind in TRANSPARENT and node.children[0] is not None:
        node = node.children[0]
    return node


def _constant(node: SyntaxNode | None) -> int | bytes | None:
    """Return the value of a constant argument."""
    bare = _bare(node) if node else None
    if bare is None:
        return None
    if bare.kind == "unary" and bare.operator in "-+~":
        value = _constant(bare.children[0])
        signs = {"-": -1, "+": 1}
        return None if not isinstance(value, int) else ~value if bare.operator == "~" else signs[bare.operator] * value
    if bare.kind == "string" and bare.name.startswith('"'):
        return _text(bare.name)
    return bare.value if bare.kind not in ("member", "floating") and isinstance(bare.value, int) else None
