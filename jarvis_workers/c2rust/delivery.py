"""The crate for the user: accepted functions in Rust, and the C that remains."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from jarvis_workers.c2rust.crate import CrateItem, user_crate
from jarvis_workers.c2rust.project import Project, ProjectItem
from jarvis_workers.c2rust.remainder import DIRECTORY, aliases, build_script, cut_functions
from jarvis_workers.c2rust.slots import unit_name
from jarvis_workers.paths import as_text, from_text
from jarvis_workers.source.clang.unit import CompileCommand

MAIN = "main"


class CrateText(NamedTuple):
    """What the crate is made of, beside the functions: types, and declarations by Rust name."""

    name: str
    types: str
    declarations: Mapping[str, str]
    globals: Mapping[str, CrateItem]


class Delivery(NamedTuple):
    """The files of a crate, the C files among them that are compiled, and functions that could not be cut out of C."""

    files: dict[str, bytes]
    remainder: tuple[str, ...]
    uncut: tuple[str, ...]


def deliver(
    project: Project,
    crate: CrateText,
    bodies: Mapping[str, CrateItem],
    commands: Sequence[CompileCommand],
    read: Callable[[bytes], bytes],
    includes: Mapping[bytes, Collection[bytes]],
) -> Delivery:
    """Return the crate whose Rust functions are `bodies`, by slot.

    `read` returns a source of the project; `includes` are the project's files that a unit includes.
    """
    kept = kept_files(project, bodies, crate.globals)
    variables = {item.slot: item for item in project.globals if unit_of(item) not in kept}
    functions = {item.slot: item for item in project.functions}
    items = [_exported(bodies[slot], functions[slot], kept) for slot in bodies]
    items += [_exported(crate.globals[slot], item, kept) for slot, item in variables.items()]
    own = {item.name for item in items}
    declarations = [text for name, text in sorted(crate.declarations.items()) if name not in own]
    documents = {item.module: f"//! {item.file}\n" for item in project.items}
    files = {
        name: text.encode()
        for name, text in user_crate(crate.name, crate.types, declarations, items, documents).items()
    }
    if not kept:
        return Delivery(files, (), ())
    units = [command for command in _one_each(commands) if as_text(command.file) in kept]
    sources, uncut = _sources(project, bodies, units, read, includes)
    files |= {f"{DIRECTORY}/{name}": content for name, content in sources.items()}
    files["build.rs"] = build_script([_apart(unit, project) for unit in units], ("m",)).encode()
    return Delivery(files, tuple(as_text(unit.file) for unit in units), uncut)


def unit_of(item: ProjectItem) -> str:
    return as_text(item.unit.file)


def kept_files(project: Project, bodies: Collection[str], variables: Collection[str]) -> frozenset[str]:
    """Return the units with a function that stays C, or with a global that has no Rust."""
    functions = (unit_of(item) for item in project.functions if item.slot not in bodies)
    return frozenset(functions) | {unit_of(item) for item in project.globals if item.slot not in variables}


def _exported(item: CrateItem, of: ProjectItem, kept: Collection[str]) -> CrateItem:
    """Return an item with its exported name set if C code must be able to link to it.

    That is any symbol with external linkage except `main`, and a static of a file that keeps C code.
    """
    is_seen = unit_of(of) in kept if of.definition.internal else of.slot != MAIN
    return item._replace(exported=of.slot if is_seen else "")


def _apart(command: CompileCommand, project: Project) -> CompileCommand:
    """Return a command that renames symbols defined by several programs, because the crate links all of them."""
    own = (item for item in project.items if item.unit.file == command.file and not item.definition.internal)
    names = sorted({item.slot for item in own if item.refusal or item.slot == MAIN})
    unit = unit_name(as_text(command.file))
    return command._replace(arguments=(*command.arguments, *(f"-D{name}={unit}__{name}" for name in names)))


def _one_each(commands: Iterable[CompileCommand]) -> list[CompileCommand]:
    first: dict[bytes, CompileCommand] = {}
    for command in commands:
        first.setdefault(command.file, command)
    return [first[file] for file in sorted(first)]


def _sources(
    project: Project,
    bodies: Collection[str],
    units: Sequence[CompileCommand],
    read: Callable[[bytes], bytes],
    includes: Mapping[bytes, Collection[bytes]],
) -> tuple[dict[str, bytes], tuple[str, ...]]:
    """Return the C files by name, with what is Rust cut out, and the functions that could not be."""
    wanted = {unit.file for unit in units} | {file for unit in units for file in includes.get(unit.file, ())}
    sources, uncut = dict[str, bytes](), list[str]()
    for file in sorted(wanted):
        name = as_text(file)
        here = [item for item in project.functions if item.file == name and item.slot in bodies and _is_cut(item)]
        cut = cut_functions(read(file), here)
        left = [item for item in project.items if unit_of(item) == name and item.slot not in bodies]
        is_unit = any(unit.file == file for unit in units)
        sources[name] = cut.content + (b"\n" + aliases(left) if is_unit else b"")
        uncut += cut.uncut
    return sources, tuple(uncut)


def _is_cut(item: ProjectItem) -> bool:
    """Return whether C must lose a function; static ones of headers stay, as each unit has its own."""
    return not item.definition.internal or from_text(item.file) == item.unit.file
