"""The crate for the user: accepted functions in Rust, and the remaining C code."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import NamedTuple

from jarvis_workers.c2rust.crate import CrateItem, Program, user_crate
from jarvis_workers.c2rust.golden_tests import module_of
from jarvis_workers.c2rust.project import SEVERAL_PROGRAMS, Project, ProjectItem, is_main
from jarvis_workers.c2rust.remainder import DIRECTORY, aliases, build_script, cut_functions
from jarvis_workers.c2rust.rust_names import KEYWORDS
from jarvis_workers.c2rust.slots import MAIN, unit_name
from jarvis_workers.paths import as_text, from_text
from jarvis_workers.source.clang.c_types import UnitDefinitions
from jarvis_workers.source.clang.unit import CompileCommand
from jarvis_workers.source.rust.rust_items import RustItem, read_items
from jarvis_workers.source.rust.rust_syntax import masked

# Calls between functions that a model translated: directly, or by the wrapper of a function that is not translated.

WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class LinkedItems:
    """The items of a crate, where called functions are visible in all modules, and the wrappers that they need."""

    items: tuple[CrateItem, ...]
    wrappers: tuple[str, ...]


def link_calls(items: Sequence[CrateItem], wrappers: Mapping[str, str]) -> LinkedItems:
    """Return the items with direct calls; `wrappers` are those of all functions, by name."""
    words = {item.slot: wrappers.keys() & set(WORD.findall(masked(item.text))) for item in items} if wrappers else {}
    defined = {one.name: item.slot for item in items if wrappers for one in _private(item.text) if one.name in wrappers}
    called = {name for slot, names in words.items() for name in names if defined.get(name) != slot}
    visible = (item._replace(text=_opened(item.text, called)) if called else item for item in items)
    return LinkedItems(tuple(visible), tuple(wrappers[name] for name in sorted(called - defined.keys())))


def _private(text: str) -> Iterator[RustItem]:
    """Yield the functions that only their module sees."""
    return (one for one in read_items(text) if one.kind == "fn" and one.head.startswith(("fn ", "unsafe fn ")))


def _opened(text: str, names: Collection[str]) -> str:
    """Return the text with some functions visible in the whole crate."""
    for one in _private(text):
        if one.name in names:
            text = text.replace(one.text, f"{one.text[: one.lead]}pub(crate) {one.definition}", 1)
    return text


INCLUDE = re.compile(rb"^[ \t]*#[ \t]*include[ \t]*[\"<]([^\">\n]+)", re.MULTILINE)
NO_NAMES: Mapping[str, Collection[str]] = MappingProxyType({})
# Names of cargo, which a program cannot have.
RESERVED_PROGRAMS = KEYWORDS | {"build", "core", "deps", "examples", "incremental", "std", "test"}


NO_TEXTS: Mapping[str, str] = MappingProxyType({})


class CrateText(NamedTuple):
    """The parts of the crate other than functions: types, declarations by Rust name, and tests by slot.

    `forwarded` means that the functions in Rust call their C originals, which stay. The functions `pruned`, by slot,
    are left out. `wrappers` are those that functions may call, by name.
    """

    name: str
    types: str
    declarations: Mapping[str, str]
    globals: Mapping[str, CrateItem]
    tests: Mapping[str, str] = NO_TEXTS
    forwarded: bool = False
    pruned: Collection[str] = ()
    wrappers: Mapping[str, str] = NO_TEXTS


class Delivery(NamedTuple):
    """The files of a crate, the C files among them that it compiles, and functions that could not be removed from C."""

    files: dict[str, bytes]
    programs: tuple[Program, ...]
    remainder: tuple[str, ...] = ()
    uncut: tuple[str, ...] = ()


def deliver(
    project: Project,
    crate: CrateText,
    bodies: Mapping[str, CrateItem],
    commands: Sequence[CompileCommand],
    read: Callable[[bytes], bytes],
    includes: Mapping[bytes, Collection[bytes]],
    without: Collection[str] = (),
    built: Mapping[str, Collection[str]] = NO_NAMES,
) -> Delivery:
    """Return the crate whose Rust functions are `bodies`, by slot.

    `commands` is the result of `units_of`.  `read` returns a source file of the project. `includes` are the project's
    files that units include. `without` has the names of programs to omit; `built` is as in `programs_of`.
    """
    programs = tuple(one for one in programs_of(project, built) if one.name not in without)
    c_files = remaining_files(project, () if crate.forwarded else {*bodies, *crate.pruned}, crate.globals)
    variables = {item.slot: item for item in project.globals if unit_of(item) not in c_files}
    functions = {item.slot: item for item in project.functions}
    items = [_exported(bodies[slot], functions[slot], c_files) for slot in bodies]
    items += [_exported(crate.globals[slot], item, c_files) for slot, item in variables.items()]
    linked = link_calls(items, crate.wrappers)
    declarations = [*_declarations(crate, linked.items, functions), *linked.wrappers]
    documents = _documents(items, {**functions, **variables})
    tests = module_of(crate.tests[slot] for slot in bodies if slot in crate.tests)
    texts = user_crate(crate.name, crate.types, declarations, linked.items, documents, programs, tests)
    files = {name: text.encode() for name, text in texts.items()}
    unit_files = {unit.file for unit in project.units}
    units = [one for one in commands if as_text(one.file) in c_files or one.file not in unit_files]
    if not units:
        return Delivery(files, programs)
    sources, uncut = _sources(project, bodies, crate.pruned, units, read, includes, originals=crate.forwarded)
    files |= {f"{DIRECTORY}/{name}": content for name, content in sources.items()}
    apart = [_apart(unit, project) for unit in units]
    whole, members = ([one for one in apart if (one.file in unit_files) is is_read] for is_read in (True, False))
    files["build.rs"] = build_script(whole, ("m",), programs, members, sorted(sources)).encode()
    return Delivery(files, programs, tuple(dict.fromkeys(as_text(unit.file) for unit in units)), uncut)


def _declarations(crate: CrateText, items: Sequence[CrateItem], functions: Mapping[str, ProjectItem]) -> Iterator[str]:
    """Yield the declarations of all symbols that are neither in Rust nor pruned."""
    gone = {item.name for item in items} | {functions[slot].rust_name for slot in crate.pruned}
    return (text for name, text in sorted(crate.declarations.items()) if name not in gone)


def _documents(items: Sequence[CrateItem], originals: Mapping[str, ProjectItem]) -> dict[str, str]:
    """Return the introductory line of each module: the C files of its items."""
    files = defaultdict[str, set[str]](set)
    for item in items:
        files[item.module].add(originals[item.slot].file)
    return {module: f"//! {', '.join(sorted(names))}\n" for module, names in files.items()}


def c_interface(project: Project) -> list[str]:
    """Return the symbols with external linkage that the crate exports like the C library."""
    items = (one for one in project.items if not one.definition.internal and one.refusal != SEVERAL_PROGRAMS)
    return [one.slot for one in items if not is_main(one.definition)]


def programs_of(project: Project, built: Mapping[str, Collection[str]] = NO_NAMES) -> Iterator[Program]:
    """Yield the programs of a project, one for each file with a `main`.

    `built` has their file names in the build, by slot; the shortest is chosen.
    """
    mains = {unit_of(item): item for item in project.functions if is_main(item.definition)}
    names = {file: _program_name(file, built.get(item.slot, ())) for file, item in mains.items()}
    for is_path in (False, True):
        count = Counter(names.values())
        others = {file: _program_name(unit_name(file) if is_path else file, ()) for file in names}
        names = {file: name if count[name] == 1 else others[file] for file, name in names.items()}
    for file, item in sorted(mains.items()):
        yield Program(names[file], file, item.slot, tuple(sorted(_own_names(project, file).items())))


def _program_name(file: str, built: Collection[str]) -> str:
    name = min(built, key=lambda one: (len(one), one), default=PurePosixPath(file).stem)
    plain = re.sub(r"[^\w-]", "_", name, flags=re.ASCII)
    return plain if plain[:1].isalpha() and plain not in RESERVED_PROGRAMS else f"program_{plain}"


def _own_names(project: Project, file: str) -> dict[str, str]:
    """Return the symbols of a unit that other programs define too, each with its own name in the crate."""
    shared = (one for one in project.items if one.refusal == SEVERAL_PROGRAMS and unit_of(one) == file)
    return {one.slot: f"{unit_name(file)}__{one.slot}" for one in shared}


def unit_of(item: ProjectItem) -> str:
    return as_text(item.unit.file)


def remaining_files(project: Project, bodies: Collection[str], variables: Collection[str]) -> frozenset[str]:
    """Return the units with a function that stays in C, or with a global that has no Rust translation."""
    functions = (unit_of(item) for item in project.functions if item.slot not in bodies)
    remaining = frozenset(functions) | {unit_of(item) for item in project.globals if item.slot not in variables}
    # What is static in one variant of a file and global in another is defined by the file for C code elsewhere.
    statics = {item.definition.key: item.file for item in project.items if item.definition.internal}
    users = (unit for unit in project.units if as_text(unit.file) in remaining)
    return remaining | {statics[one.key] for unit in users for one in unit.declared if one.key in statics}


def _exported(item: CrateItem, of: ProjectItem, c_files: Collection[str]) -> CrateItem:
    """Return an item with its exported name set if C code must be able to link to it.

    These are symbols with external linkage, and statics of a file that keeps C code.
    """
    is_seen = unit_of(of) in c_files or not of.definition.internal
    return item._replace(exported=of.slot if is_seen else "")


def _apart(command: CompileCommand, project: Project) -> CompileCommand:
    """Return a command that renames symbols defined by several programs, because the crate links all of them."""
    names = _own_names(project, as_text(command.file))
    mains = (one for one in project.functions if one.unit.file == command.file and is_main(one.definition))
    names |= {one.definition.name: one.slot for one in mains}
    if all(unit.file != command.file for unit in project.units):
        names[MAIN] = f"{unit_name(as_text(command.file))}__{MAIN}"
    return command._replace(arguments=(*command.arguments, *(f"-D{name}={own}" for name, own in sorted(names.items()))))


def units_of(
    commands: Sequence[CompileCommand], read: Mapping[int, UnitDefinitions], differing: Collection[bytes] = ()
) -> list[CompileCommand]:
    """Return the compile commands of the crate by file: one for each set of units with the same symbols.

    A unit whose symbols another unit of the file has, too, is left out; of a file with functions that differ between
    its variants (`differing`), all but the first are. `read` are the units by the index of their command.  C files
    without a readable unit are included.
    """
    files = {commands[index].file for index in read}
    first: dict[tuple[bytes, frozenset[str]], CompileCommand] = {}
    for index, command in enumerate(commands):
        if index in read:
            symbols = frozenset(one.key for one in read[index].definitions if not one.internal)
            first.setdefault((command.file, symbols), command)
        elif command.file not in files and command.file.endswith(b".c"):
            first.setdefault((command.file, frozenset()), command)
    by_file = defaultdict[bytes, list[frozenset[str]]](list)
    for file, symbols in first:
        by_file[file].append(symbols)
    chosen = (
        command
        for (file, symbols), command in first.items()
        if (by_file[file][0] == symbols if file in differing else not any(symbols < other for other in by_file[file]))
    )
    return sorted(chosen, key=lambda one: one.file)


def included_files(file: bytes, names: Collection[bytes], read: Callable[[bytes], bytes]) -> set[bytes]:
    """Return the files among `names` that a C file may include, directly or indirectly.

    An include matches each path that ends with it.
    """
    by_base = defaultdict[bytes, list[bytes]](list)
    for name in names:
        by_base[name.rpartition(b"/")[2]].append(name)
    found, unread = set[bytes](), [file]
    while unread:
        for path in INCLUDE.findall(read(unread.pop())):
            end = re.sub(rb"^(\.{0,2}/)+", b"", path)
            ends = {one for one in by_base[end.rpartition(b"/")[2]] if (b"/" + one).endswith(b"/" + end)}
            unread += (new := ends - found - {file})
            found |= new
    return found


def _sources(
    project: Project,
    bodies: Collection[str],
    pruned: Collection[str],
    units: Sequence[CompileCommand],
    read: Callable[[bytes], bytes],
    includes: Mapping[bytes, Collection[bytes]],
    *,
    originals: bool,
) -> tuple[dict[str, bytes], tuple[str, ...]]:
    """Return the C files by name, without some functions, and the functions that cannot be removed."""
    gone = {*bodies, *pruned}
    files = {unit.file for unit in units} | {file for unit in units for file in includes.get(unit.file, ())}
    sources, uncut = dict[str, bytes](), list[str]()
    for file in sorted(files):
        name = as_text(file)
        own = [item for item in project.functions if item.file == name]
        texts = Counter(item.definition.extent for item in own)
        here = [item for item in own if item.slot in gone and _is_cut(item)]
        uncut += [item.slot for item in here if texts[item.definition.extent] > 1]
        here = [item for item in here if texts[item.definition.extent] == 1]
        cut = cut_functions(read(file), here, pruned, originals=originals)
        left = [item for item in project.items if unit_of(item) == name and item.slot not in gone]
        is_unit = any(unit.file == file for unit in units)
        sources[name] = cut.content + (aliases(left) if is_unit else b"")
        uncut += cut.uncut
    return sources, tuple(uncut)


def _is_cut(item: ProjectItem) -> bool:
    """Return whether a function must be removed from C; static functions in headers stay: each unit has its own."""
    return not item.definition.internal or from_text(item.file) == item.unit.file
