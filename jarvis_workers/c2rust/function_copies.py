"""Functions that have several copies in a program, or differ between units: they and their callers stay in C.

A static function in a header is compiled in each unit that includes it, and a file may be compiled several times with
different macros.  One Rust function replaces all copies, which is correct only if they are equal and share their state.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence

from jarvis_workers.source.clang.c_types import CDefinition, UnitDefinitions
from jarvis_workers.source.clang.syntax_tree import walk

VARIANTS = "compiled in several variants, which differ by macros"
STATE = "a static function in a header; each file has its own copy of its static variables"
CALLER = "uses {}; each file has its own copy of it"
Copy = tuple[CDefinition, UnitDefinitions]


def is_unit_variable(definition: CDefinition, unit: UnitDefinitions) -> bool:
    """Return whether a definition is a mutable static variable in a header: each unit has its own copy."""
    is_static = definition.internal and definition.type.kind != "function"
    return is_static and not definition.constant and definition.extent.file != unit.file


def copy_refusals(units: Sequence[UnitDefinitions]) -> dict[str, str]:
    """Return the functions that a single Rust function cannot replace, by key, with the reasons."""
    copies: defaultdict[str, list[Copy]] = defaultdict(list)
    for unit in units:
        for one in unit.definitions:
            copies[one.key].append((one, unit))
    functions = {key: some for key, some in copies.items() if some[0][0].type.kind == "function"}
    own = _own_symbols(units)
    several = {key for key, some in copies.items() if some[0][0].internal and _are_in_one_program(some, own)}
    changing = {key for key in several - functions.keys() if not copies[key][0][0].constant}
    headers = {key for key in changing if is_unit_variable(*copies[key][0])}
    found = {key: VARIANTS for key, some in functions.items() if _differ(some)}
    found |= {key: STATE for key in several & functions.keys() if _has_state(functions[key][0][0], changing)}
    return {**_callers(copies, several, (several & found.keys()) | (changing - headers)), **found}


def _callers(copies: Mapping[str, Sequence[Copy]], several: Collection[str], unread: set[str]) -> dict[str, str]:
    """Return the functions that use one of `unread`, directly or through other functions with several copies."""
    callers: dict[str, str] = {}
    users = defaultdict[str, list[str]](list)
    for key, some in copies.items() if unread else ():
        for used in {target for one, _ in some for target in _targets(one)}:
            users[used].append(key)
    remaining = sorted(unread)
    while remaining:
        key = remaining.pop()
        for user in sorted(users[key]):
            if user not in callers and user not in unread:
                callers[user] = CALLER.format(copies[key][0][0].name)
                remaining += [user] if user in several else []
    return callers


def _own_symbols(units: Sequence[UnitDefinitions]) -> dict[int, frozenset[tuple[str, bytes]]]:
    """Return the external symbols of each unit, with their files, by unit id; symbols in headers may be inline."""
    files = {unit.file for unit in units}
    return {
        id(unit): frozenset(
            (one.key, one.extent.file) for one in unit.definitions if not one.internal and one.extent.file in files
        )
        for unit in units
    }


def _are_in_one_program(copies: Sequence[Copy], own: Mapping[int, frozenset[tuple[str, bytes]]]) -> bool:
    """Return whether the copies can be linked into one program: units that define a symbol of the same file cannot."""
    return len(copies) > 1 and not frozenset.intersection(*(own[id(unit)] for _, unit in copies))


def _differ(copies: Sequence[Copy]) -> bool:
    """Return whether the copies of a function of one file differ in location, syntax tree or type."""
    (first, unit), *others = copies
    return any(
        one.extent != first.extent or one.type != first.type or _meaning(one, own) != _meaning(first, unit)
        for one, own in others
        if one.extent.file == first.extent.file
    )


def _meaning(definition: CDefinition, unit: UnitDefinitions) -> list[object]:
    """Return everything that a translation depends on, as a flat list, since trees may exceed the recursion limit."""
    nodes = list(walk(definition.tree))
    types = sorted({node.type for node in nodes})
    unit_types = [unit.types.get(name) for name in types]
    shallow = [(*_words(node), len(node.children)) for node in nodes]
    return [shallow, unit_types, [unit.records.get(one.key) for one in unit_types if one is not None and one.key]]


def _words(node: object) -> Iterator[object]:
    return (getattr(node, name) for name in ("kind", "line", "type", "name", "operator", "target", "local", "value"))


def _has_state(definition: CDefinition, changing: Collection[str]) -> bool:
    return any(key in changing for key in _targets(definition)) or any(
        node.kind == "variable" and node.operator == "static" and not _is_constant(node.type)
        for node in walk(definition.tree)
    )


def _is_constant(spelling: str) -> bool:
    return spelling.endswith("const") or (spelling.startswith("const ") and "*" not in spelling)


def _targets(definition: CDefinition) -> Iterator[str]:
    return (node.target for node in walk(definition.tree) if node.kind == "name" and node.target)
