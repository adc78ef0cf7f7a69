"""Functions that are static in one variant of a file and global in another (`#define STATIC`).

They are one definition, at one place: all units refer to it by the key of the static one, so that one Rust function
replaces both, and users of both are equal.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from jarvis_workers.source.clang.c_types import CDefinition, UnitDefinitions
from jarvis_workers.source.clang.syntax_tree import SyntaxNode


def with_one_linkage(units: Sequence[UnitDefinitions]) -> tuple[UnitDefinitions, ...]:
    """Return the units in which each definition has one key, with the extent that it has where it is static."""
    statics = _static_twins(units)
    return tuple(_with_keys(unit, statics) if statics else unit for unit in units)


def _static_twins(units: Sequence[UnitDefinitions]) -> dict[str, CDefinition]:
    """Return the static definitions by the keys of the global ones that end at the same place."""
    places = defaultdict[tuple[object, ...], dict[bool, CDefinition]](dict)
    for unit in units:
        for one in (definition for definition in unit.definitions if definition.type.kind == "function"):
            # Where a definition begins depends on the macro: `STATIC int f(void)` begins with `int` if it is empty.
            place = one.extent.file, one.extent.end_line, one.extent.end_column, one.name
            places[place].setdefault(one.internal, one)
    return {both[False].key: both[True] for both in places.values() if True in both and False in both}


def _with_keys(unit: UnitDefinitions, statics: Mapping[str, CDefinition]) -> UnitDefinitions:
    used = {one.key for one in unit.definitions} | {one.key for one in unit.declared}
    if used.isdisjoint(statics):
        return unit
    definitions = tuple(_with_key(one, statics) for one in unit.definitions)
    declared = tuple(one._replace(key=statics[one.key].key) if one.key in statics else one for one in unit.declared)
    return replace(unit, definitions=definitions, declared=declared)


def _with_key(definition: CDefinition, statics: Mapping[str, CDefinition]) -> CDefinition:
    tree = _with_targets(definition.tree, statics)
    twin = statics.get(definition.key)
    if twin is None:
        return definition._replace(tree=tree)
    return definition._replace(key=twin.key, extent=twin.extent, internal=True, tree=tree)


def _with_targets(tree: SyntaxNode, statics: Mapping[str, CDefinition]) -> SyntaxNode:
    """Return a tree with other targets; without recursion, since trees may be deeper than its limit."""
    done: dict[int, SyntaxNode] = {}
    stack: list[tuple[SyntaxNode, bool]] = [(tree, False)]
    while stack:
        node, is_visited = stack.pop()
        if not is_visited:
            stack.append((node, True))
            stack += [(child, False) for child in node.children if child is not None]
            continue
        children = tuple(child and done[id(child)] for child in node.children)
        target = statics[node.target].key if node.target in statics else node.target
        is_same = target == node.target and all(new is old for new, old in zip(children, node.children, strict=True))
        done[id(node)] = node if is_same else replace(node, target=target, children=children)
    return done[id(tree)]
