"""Translate a whole project mechanically: types, bodies, declarations, and refusals by function."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import NamedTuple

from jarvis_workers.c2rust.crate import CrateItem
from jarvis_workers.c2rust.golden_tests import pure_functions
from jarvis_workers.c2rust.input_values import function_constants
from jarvis_workers.c2rust.mechanical.names import Names, RustBody, SymbolUse
from jarvis_workers.c2rust.mechanical.refusals import REFUSALS, Refusal
from jarvis_workers.c2rust.mechanical.translate import declaration, translate_function, translate_global
from jarvis_workers.c2rust.project import Project, ProjectItem, enum_definitions
from jarvis_workers.c2rust.rust_types import project_types, type_definitions
from jarvis_workers.c2rust.shapes import mentioned, shapes_text
from jarvis_workers.c2rust.signatures import ParameterMapping

NOT_CHOSEN = "not among the functions to convert (--only)"
SIGNATURE = re.compile(r'^pub unsafe extern "C" (fn [^{]*?)\s*\{', re.MULTILINE | re.DOTALL)
FORWARDER = re.compile(r"^unsafe (fn forward_[^{]*?)\s*\{", re.MULTILINE)


class Translated(NamedTuple):
    """A function or global with its Rust code, or the reason why there is none.

    `mappings` state how a forwarder passes its parameters.
    """

    item: ProjectItem
    body: RustBody | None
    refusal: str = ""
    mappings: tuple[ParameterMapping, ...] = ()

    def crate_item(self, exported: str = "") -> CrateItem:
        """Return the crate item for a body."""
        assert self.body is not None
        return CrateItem(self.item.rust_name, self.item.slot, self.item.module, self.body.text, exported)

    @property
    def signature(self) -> str:
        return shown_signature(self.body.text) if self.body else ""


def shown_signature(text: str) -> str:
    """Return the signature of the forwarder in a text, or that of the function for C; "" without one."""
    match = FORWARDER.search(text)
    return " ".join(match[1].split()) if match else shim_signature(text)


def shim_signature(text: str) -> str:
    """Return the signature of the function for C in a text; "" without one."""
    match = SIGNATURE.search(text)
    return " ".join(match[1].split()) if match else ""


@dataclass(frozen=True, slots=True)
class TranslatedProject:
    """All definitions with their Rust code, the text of types.rs, and the names visible in each unit, by its file."""

    project: Project
    items: tuple[Translated, ...]
    types: str
    names: Mapping[bytes, Names] = field(repr=False)

    @property
    def functions(self) -> tuple[Translated, ...]:
        return tuple(one for one in self.items if one.item.is_function)

    def declarations(self) -> dict[str, str]:
        """Return the declarations of all symbols that bodies mention, by Rust name."""
        items = {one.item.rust_name: one.item for one in reversed(self.items)}
        found: dict[str, str] = {}
        for one in self.items:
            names = self.names[one.item.unit.file]
            for use in one.body.uses if one.body else ():
                name = names.symbol(use.key, use.name)
                if use.kind != "record" and name not in found:
                    found[name] = self._declared(name, use, names, items.get(name))
        return dict(sorted(found.items()))

    def shapes(self, slots: Collection[str], machine: str) -> str:
        """Return how some functions return their results on a machine, for the comparison of calls."""
        chosen = [one.item for one in self.functions if one.item.slot in slots]
        records = {key: record for item in chosen for key, record in item.unit.records.items()}
        mentions = {
            item.slot: mentioned(function_constants(item.definition.tree), item.definition.tree, item.unit.records)
            for item in chosen
        }
        pure = pure_functions(self.project)
        silent = [item.slot for item in chosen if item.definition.key in pure]
        return shapes_text({item.slot: item.definition.type for item in chosen}, records, machine, mentions, silent)

    def _declared(self, name: str, use: SymbolUse, names: Names, item: ProjectItem | None) -> str:
        if item is not None:
            names = self.names[item.unit.file]
        declared = self.project.declared.get(use.key)
        type_ = item.definition.type if item else declared.type if declared else use.type
        text = declaration(name, type_, names)
        symbol = item.slot if item else declared.symbol if declared else use.name
        return text if symbol == name.removeprefix("r#") else f'#[link_name = "{symbol}"]\n{text}'


def translate_project(project: Project, only: Sequence[str] = ()) -> TranslatedProject:
    """Return the translation of a project; `only` are function names with wildcards, empty for all functions."""
    types = project_types(project.units)
    signatures = {key: one.type for key, one in project.declared.items()}
    signatures |= {item.definition.key: item.definition.type for item in project.functions}
    outside = {project.names[key] for key, one in project.declared.items() if one.type.kind != "function"}
    variables = frozenset(item.rust_name for item in project.globals) | outside
    owners = {item.definition.key: types.of(item.unit) for item in project.functions}
    names = {
        unit.file: Names(types.of(unit), project.names_in(unit), signatures, variables, owners)
        for unit in project.units
    }
    items = tuple(_translated(item, names[item.unit.file], only) for item in project.items)
    text = type_definitions(types) + enum_definitions(project.enums.values())
    return TranslatedProject(project, items, text, names)


def is_chosen(item: ProjectItem, only: Sequence[str]) -> bool:
    """Return whether a function is to be converted."""
    return not only or any(fnmatchcase(item.definition.name, pattern) for pattern in only)


def unmatched_names(project: Project, only: Sequence[str]) -> list[str]:
    """Return the patterns that match no function."""
    names = [item.definition.name for item in project.functions]
    return [pattern for pattern in only if not any(fnmatchcase(name, pattern) for name in names)]


def _translated(item: ProjectItem, names: Names, only: Sequence[str]) -> Translated:
    if item.refusal:
        return Translated(item, None, item.refusal)
    if item.is_function and not is_chosen(item, only):
        return Translated(item, None, NOT_CHOSEN)
    translate = translate_function if item.is_function else translate_global
    found = translate(item.definition, item.unit, names)
    return Translated(item, None, _text(found)) if isinstance(found, Refusal) else Translated(item, found)


def _text(refusal: Refusal) -> str:
    return f"{REFUSALS[refusal.reason].meaning.rstrip('.')} (line {refusal.line}: {refusal.reason})"
