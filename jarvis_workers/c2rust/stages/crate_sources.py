"""The input of the user's crate in addition to the skeleton: the project with its files, and how they are compiled."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple, Self

from jarvis_workers.builds.compile_commands import decode_commands
from jarvis_workers.c2rust.delivery import included_files, units_of
from jarvis_workers.c2rust.function_copies import VARIANTS
from jarvis_workers.c2rust.project import Project, read_project
from jarvis_workers.c2rust.shadow_fields import FunctionTypes
from jarvis_workers.c2rust.stages.conversion_project import ConversionProject, function_types
from jarvis_workers.c2rust.stages.unit_batches import DEFINITIONS, UNITS, read_unit_definitions, read_units
from jarvis_workers.pipeline.history import read_result
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.snapshots.reader import open_snapshot
from jarvis_workers.source.clang.unit import CompileCommand

# Attributes on which the linker and the loader act: without the C file they have no effect.
LINKED = frozenset(("alias", "constructor", "destructor", "ifunc", "section", "weak"))


class CrateSources(NamedTuple):
    """The input of the user's crate in addition to the skeleton."""

    project: Project
    commands: Sequence[CompileCommand]
    files: Mapping[bytes, bytes]
    includes: Mapping[bytes, Collection[bytes]]
    attributes: Mapping[str, str]
    name: str

    @classmethod
    def open(cls, run: ConversionProject, blobs: Blobs) -> Self:
        """Read the sources of a run from the results of the jobs that read its units."""
        found = [read_result(blobs, result).blobs for result in run.units]
        read = dict(read_unit_definitions(blobs, [one[DEFINITIONS] for one in found if DEFINITIONS in one]))
        project = read_project(read.values())
        includes: dict[bytes, set[bytes]] = {}
        attributes: dict[str, str] = {}
        for unit in read_units(blobs, [one[UNITS] for one in found if UNITS in one]):
            includes.setdefault(unit.file, set()).update(unit.includes)
            attributes |= {one.key: fact for one in unit.symbols for fact in one.facts if fact in LINKED}
        with open_snapshot(blobs, run.snapshot) as reader:
            entries = {entry.path: entry for entry in reader.files()}
            differing = {one.definition.extent.file for one in project.functions if one.refusal == VARIANTS}
            chosen = units_of(decode_commands(blobs.read(run.options.commands)), read, differing)
            commands = [one for one in chosen if one.file in entries]
            for file in {one.file for one in commands} - includes.keys():
                includes[file] = included_files(file, entries, lambda one: reader.read(entries[one]))
            paths = includes.keys() | {file for files in includes.values() for file in files}
            files = {path: reader.read(entry) for path, entry in entries.items() if path in paths}
        return cls(project, commands, files, includes, attributes, run.options.crate)

    def linked(self) -> dict[str, str]:
        """Return the attributes that keep functions and variables in C, by slot."""
        items = ((item.slot, self.attributes.get(item.definition.key, "")) for item in self.project.items)
        return {slot: attribute for slot, attribute in items if attribute}

    def types(self) -> Callable[[str], FunctionTypes]:
        """Return a function that maps a slot to the types needed to name differences."""
        return function_types(self.project)
