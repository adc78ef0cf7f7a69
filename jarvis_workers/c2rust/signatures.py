"""Propose how to pass the parameters of functions between C and Rust: references, slices, strings, or raw pointers.

The proposal is based on facts, not on names.  A reference claims that the pointer is valid for one element, that it
does not outlive the call, and, if mutable, that nothing else accesses its target.  Uncertain cases are `raw`; so are
pointers to structures that C allocates with another size than that of their type.
"""

from collections.abc import Iterator, Mapping, Sequence, Set
from types import MappingProxyType
from typing import Literal, NamedTuple

from jarvis_workers.c2rust.project import EnumType
from jarvis_workers.source.clang.c_types import CDefinition, CType, Record, UnitDefinitions
from jarvis_workers.source.pointers.aliasing import AliasAnalysis
from jarvis_workers.source.pointers.pointer_facts import ParameterId, PointerAnalysis, PointerFacts
from jarvis_workers.source.pointers.result_facts import returned_constants, returns_negative, returns_null

MappingKind = Literal[
    "value", "ref", "mut_ref", "slice", "mut_slice", "cstr", "option", "out", "raw", "result", "status", "enum", "flags"
]  # fmt: skip
# The name of the result among parameters: a keyword of C, so that no parameter has it.
RESULT = "return"
ERROR_TYPE = "ErrorCode"
POINTEES = ("bool", "integer", "floating", "enum", "record", "pointer", "array")


class ParameterMapping(NamedTuple):
    """How a parameter is passed, or the result, whose name is RESULT.

    A result is a "value" as in C, an "option" (a pointer or NULL), a "result" (a negative number is an error), or a
    "status" (any number but 0 is an error).  `inner` is the mapping inside an `option`; `length` is the index of the
    parameter with the element count of a slice.  `type` is the Rust type instead of an integer that the proposal uses.
    """

    parameter: str
    kind: MappingKind
    inner: MappingKind = "value"
    length: int | None = None
    type: str = ""

    @property
    def form(self) -> str:
        """How the parameter is passed, such as "slice" or "option ref"."""
        return f"option {self.inner}" if self.kind == "option" and self.inner != "value" else self.kind


class ParameterChoice(NamedTuple):
    """The proposed mapping of a parameter, and all forms that a shim can have and that the facts do not exclude.

    `counts` is true if it can be the element count of a slice.
    """

    proposal: ParameterMapping
    forms: tuple[str, ...]
    counts: bool = False


def propose_mappings(units: Sequence[UnitDefinitions]) -> dict[str, tuple[ParameterMapping, ...]]:
    """Return the mappings of the parameters of all functions that the units define, by function key."""
    return {
        key: tuple(one.proposal for one in choices if one.proposal.parameter != RESULT)
        for key, choices in propose_signatures(units).items()
    }


def propose_signatures(
    units: Sequence[UnitDefinitions], enums: Mapping[str, EnumType] = MappingProxyType({})
) -> dict[str, tuple[ParameterChoice, ...]]:
    """Return the choices for the parameters of all functions that the units define, by function key.

    The last one is for the result, if there is a choice.  `enums` are those that a plan makes types in Rust, by key.
    """
    analysis = PointerAnalysis(units)
    aliases = AliasAnalysis(units, analysis)
    records = {key: one for unit in units for key, one in unit.records.items()}
    unsized = {key for key, one in records.items() if _ends_with_array(one, records)}
    return {
        key: (*_choices(key, analysis, aliases, unsized, enums), *_result_choice(one.definition, enums))
        for key, one in analysis.functions.items()
    }


def _ends_with_array(record: Record, records: Mapping[str, Record]) -> bool:
    """Return whether a record ends with an array of at most one element, a flexible array or its older forms.

    Such a record may be allocated without its end, or with more elements (C11 6.7.2.1, CERT C MEM33-C).
    """
    for field in record.fields if record.kind == "union" else record.fields[-1:]:
        if field.type.kind == "incomplete_array" or (field.type.kind == "array" and field.type.length <= 1):
            return True
        if field.type.kind == "record" and (inner := records.get(field.type.key)) and _ends_with_array(inner, records):
            return True
    return False


def _choices(
    key: str,
    analysis: PointerAnalysis,
    aliases: AliasAnalysis,
    unsized: Set[str],
    enums: Mapping[str, EnumType],
) -> Iterator[ParameterChoice]:
    function = analysis.functions[key]
    for number, node in enumerate(function.parameters):
        type_, one = function.type_of(node), ParameterId(key, number)
        if enum := _planned_enum(type_, enums):
            yield _enum_choice(node.name, enum)
            continue
        if type_ is None or type_.kind != "pointer":
            is_count = type_ is not None and type_.kind == "integer"
            yield ParameterChoice(ParameterMapping(node.name, "value"), ("value",), is_count)
            continue
        facts = analysis.facts[one]
        if type_.target is not None and type_.target.key in unsized:
            yield ParameterChoice(ParameterMapping(node.name, "raw"), ("raw",))
            continue
        forms = tuple(_forms(type_, facts))
        kind, length = _plain_kind(type_, facts)
        if kind == "raw" or aliases.may_alias(one):
            mapping = ParameterMapping(node.name, "raw")
        elif facts.not_null or kind in ("slice", "mut_slice"):
            mapping = ParameterMapping(node.name, kind, length=length)
        else:
            mapping = ParameterMapping(node.name, "option", kind, length)
        yield ParameterChoice(mapping, forms)


def _result_choice(function: CDefinition, enums: Mapping[str, EnumType]) -> Iterator[ParameterChoice]:
    """Yield the choice for a result: errors, where constants of the function mean them, or the type of an enum.

    A Rust enum cannot have other numbers, so the function must return nothing but constants of the enum.
    """
    numbers = returned_constants(function)
    enum = _planned_enum(function.type.target, enums)
    if enum and (enum.kind == "flags" or (numbers and numbers <= enum.values)):
        yield _enum_choice(RESULT, enum)
    elif returns_null(function):
        yield ParameterChoice(ParameterMapping(RESULT, "value"), ("value", "option"))
    elif returns_negative(function):
        if numbers and max(numbers) == 0:
            yield ParameterChoice(ParameterMapping(RESULT, "status", type=ERROR_TYPE), ("value", "result", "status"))
        else:
            yield ParameterChoice(ParameterMapping(RESULT, "value"), ("value", "result"))


def _planned_enum(type_: CType | None, enums: Mapping[str, EnumType]) -> EnumType | None:
    return enums.get(type_.key) if type_ is not None and type_.kind == "enum" else None


def _enum_choice(name: str, enum: EnumType) -> ParameterChoice:
    return ParameterChoice(ParameterMapping(name, enum.kind, type=enum.name), ("value", enum.kind))


def _forms(type_: CType, facts: PointerFacts) -> Iterator[str]:
    """Yield the forms of a pointer that a shim can have, without those that contradict its uses."""
    yield "raw"
    target = type_.target
    if target is None or target.kind not in POINTEES or target.size < 0 or target.volatile:
        return
    kinds = ["ref", "slice"] if type_.const else ["mut_ref", "mut_slice"]
    if type_.const and target.kind == "integer" and target.size == 1 and facts.length is None:
        kinds.append("cstr")
    if not type_.const and not facts.read:
        kinds.append("out")
    yield from kinds
    yield from (f"option {kind}" for kind in kinds if not kind.endswith("slice"))


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
