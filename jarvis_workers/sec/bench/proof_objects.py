"""The objects of a tree that was compiled for proofs: which symbols they define, and which functions call which."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

MAIN, FUZZ_TARGET = "main", "LLVMFuzzerTestOneInput"
# The output of `nm -A -P`: FILE: NAME TYPE …, or FILE[MEMBER]: NAME TYPE …
SYMBOL = re.compile(r"^([^\n]*?)(?:\[[^\]\n]*\])?: (\S+) ([A-Za-z])\b", re.MULTILINE)
DEFINED = re.compile(r"^([^\n]*?): (\S+) [TW]\b", re.MULTILINE)
# Functions of the sanitizers' interface that no compiler adds: a program that uses them may fake a report.
INTERFACE = re.compile(
    r"__(?:asan|ubsan|lsan|sanitizer)_(?!report_|load|store|init|version_|register_|unregister_|stack_|handle_|option_"
    r"|alloca|allocas|before_|after_|set_shadow|shadow_|mem|noreturn|poison_(?:stack|cxx)|unpoison_(?:stack|intra)"
    r"|exp_)\w+|_ZN\d+__(?:asan|ubsan|lsan|sanitizer|interception)\w+"
)
SECTION = re.compile(
    r"^Relocation section '\.rela?\.(?:text\.(?:unlikely\.|startup\.|exit\.|hot\.)?(\w+)|(data|rodata)\S*)'"
)
TARGET = re.compile(r"^[0-9a-f]+ +[0-9a-f]+ +R_\S+ +[0-9a-f]+ +(?:\.text\.)?(\w+)( [+-] (?!0$)[0-9a-f]+)?")
# A member of a library, as readelf writes it; nm writes brackets.
MEMBER = re.compile(r"\(([^()]*)\)$")
TABLE = "a table"
# Copies of the objects of programs, from which a link takes what the tree needs of them and nothing else defines.
MAINS = "mains.a"
COPY_MAINS = f"""\
mkdir mains && printf '%s\\n' "$1" | while IFS= read -r file; do
    number=$((number + 1))
    copy=mains/$number.o
    objcopy --redefine-sym main=jarvis_main "../$file" $copy || rm -f $copy
done
ls mains | sort -n | sed 's,^,mains/,' | xargs ar qcS {MAINS} && ranlib {MAINS}
"""
# The directory of the project on a bench (`proof_bench.PROJECT`, which imports this module).
BELOW = "project/"


class CompiledObject(NamedTuple):
    """An object file or static library; `symbols` are the types, as nm writes them, of what it defines, by name."""

    path: str
    symbols: Mapping[str, str]

    def defines(self, name: str) -> bool:
        """Return whether it defines a symbol for other files."""
        return self.symbols.get(name, "") in ("T", "W", "D", "B", "R", "V", "G", "S", "C")

    @property
    def is_entry(self) -> bool:
        """Whether it is an object with the main function of a program, or with a fuzz target."""
        return self.path.endswith(".o") and (self.defines(MAIN) or self.defines(FUZZ_TARGET))


class CompiledTree(NamedTuple):
    """The objects of a tree, the functions that call each function, and the source of each object by its path.

    `interface` is a function of the sanitizers that the tree itself uses, "" if there is none.  `shared` are the
    functions that are used within the tree outside the object that defines them, and those of its programs.
    """

    objects: tuple[CompiledObject, ...]
    callers: Mapping[str, Set[str]]
    sources: Mapping[str, str]
    interface: str = ""
    shared: Set[str] = frozenset()

    @property
    def symbols(self) -> dict[str, str]:
        """The types of all symbols, external ones first."""
        every = [(name, kind) for one in self.objects for name, kind in one.symbols.items()]
        return dict(sorted(every, key=lambda pair: pair[1].isupper()))

    def with_function(self, name: str) -> list[CompiledObject]:
        """Return the objects that define a function for other files."""
        return [one for one in self.objects if one.defines(name)]

    def of_source(self, file: str) -> CompiledObject | None:
        """Return the object of a source file, None if it was not compiled; a build is asked for the object itself."""
        return next((one for one in self.objects if self.name_of(one) == file), None)

    def name_of(self, one: CompiledObject) -> str:
        """Return the source file of an object, or of a build the object, relative to the project if it is there."""
        return self.sources.get(one.path, one.path.removeprefix(BELOW))


def read_objects(symbols: str, relocations: str, sources: Mapping[str, str]) -> CompiledTree:
    """Return the objects from the outputs of `nm -A -P` and `readelf -rW`."""
    defined = defaultdict[str, dict[str, str]](dict)
    interface = ""
    for path, name, kind in SYMBOL.findall(symbols):
        if INTERFACE.fullmatch(name):
            interface = name
        if kind not in "Uwv":
            defined[path][name] = kind
    objects = tuple(CompiledObject(path, found) for path, found in sorted(defined.items()))
    functions = {name for one in objects for name, kind in one.symbols.items() if kind in "TtWw"}
    units = defaultdict[str, set[str]](set)
    for unit, name in DEFINED.findall(symbols):
        units[name].add(unit)
    programs = units[MAIN] | units[FUZZ_TARGET]
    callers = defaultdict[str, set[str]](set)
    shared = {name for name, places in units.items() if places & programs}
    for unit, caller, called in _calls(relocations.split("\n")):
        if called in functions and called != caller:
            callers[called].add(caller)
            if unit not in units[called]:
                shared.add(called)
    return CompiledTree(objects, callers, sources, interface, shared)


def _calls(lines: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """Yield the object or member of a library, caller, and called function; a table of functions is a caller, too."""
    unit = ""
    caller: str | None = None
    for line in lines:
        if line.startswith("File: "):
            unit, caller = MEMBER.sub(r"[\1]", line.removeprefix("File: ")), None
        elif section := SECTION.match(line):
            caller = section[1] or TABLE
        elif line.startswith("Relocation section"):
            caller = None
        elif caller and (target := TARGET.match(line)) and not (caller == TABLE and target[2]):
            yield unit, caller, target[1]  # an offset in a table is one of the cases of a switch


def is_program(path: Path) -> bool:
    """Return whether a path is a binary, or a script in front of one as libtool makes them, that may be executed."""
    if path.is_symlink() or not path.is_file() or not path.stat().st_mode & 0o111:
        return False
    start = b""
    with suppress(OSError), path.open("rb") as file:  # a build may make a file that nobody may read
        start = file.read(4)
    return start == b"\x7fELF" or (start[:2] == b"#!" and path.with_name(".libs").is_dir())
