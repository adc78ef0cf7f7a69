"""Propose how to pass the parameters of functions between C and Rust: references, slices, strings, or raw pointers.

The proposal is based on facts, not on names.  A reference claims that the pointer is valid for one element, that it
does not outlive the call, and, if mutable, that nothing else accesses its target.  Uncertain cases are `raw`.
"""

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from jarvis_workers.source.clang.c_types import CType, UnitDefinitions
from jarvis_workers.source.pointers.aliasing import AliasAnalysis
from jarvis_workers.source.pointers.pointer_facts import ParameterId, PointerAnalysis, PointerFacts

MappingKind = Literal["value", "ref", "mut_ref", "slice", "mut_slice", "cstr", "option", "out", "raw"]
POINTEES = ("bool", "integer", "floating", "enum", "record", "pointer", "array")


class ParameterMapping(NamedTuple):
    """How a parameter is passed.

    `inner` is the mapping inside an `option`; `length` is the index of the parameter with the element count of a slice.
    """

    parameter: str
    kind: MappingKind
    inner: MappingKind = "value"
    length: int | None = None


def propose_mappings(units: Sequence[UnitDefinitions]) -> dict[str, tuple[ParameterMapping, ...]]:
    """Return the mappings of the parameters of all functions that the units define, by function key."""
    analysis = PointerAnalysis(units)
    aliases = AliasAnalysis(units, analysis)
    return {key: tuple(_mappings(key, analysis, aliases)) for key in analysis.functions}


def _mappings(key: str, analysis: PointerAnalysis, aliases: AliasAnalysis) -> Iterator[ParameterMapping]:
    function = analysis.functions[key]
    for number, node in enumerate(function.parameters):
        type_, one = function.type_of(node), ParameterId(key, number)
        if type_ is None or type_.kind != "pointer":
            yield ParameterMapping(node.name, "value")
            continue
        facts = analysis.facts[one]
        kind, length = _plain_kind(type_, facts)
        if kind == "raw" or aliases.may_alias(one):
            yield ParameterMapping(node.name, "raw")
        elif facts.not_null or kind in ("slice", "mut_slice"):
            yield ParameterMapping(node.name, kind, length=length)
        else:
            yield ParameterMapping(node.name, "option", kind, length)


def _plain_kind(type_: CType, facts: PointerFacts) -> tuple[MappingKind, int | None]:
    """Return the mapping of a pointer that is not NULL, before aliases are considered."""
    target = type_.target
    used = facts.read or facts.written or facts.not_null
    if target is None or target.kind not in POINTEES or target.size < 0 or target.volatile or facts.escapes or not used:
        return "raw", None
    if type_.const and facts.written:
        return "raw", None
    if facts.string and type_.const and target.kind == "integer" and target.size == 1:
        return "cstr", None
    if facts.indexed:
        sliced: MappingKind = "slice" if type_.const else "mut_slice"
        return (sliced, facts.length) if facts.length is not None else ("raw", None)
    if facts.written_always and not facts.read and target.kind != "record" and not type_.const:
        return "out", None
    return ("ref" if type_.const else "mut_ref"), None
