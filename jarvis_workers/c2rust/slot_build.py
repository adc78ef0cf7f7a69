"""Plan how to convert a call of the C compiler to a build with slots.

C sources are compiled to assembly, slots are inserted, and the result is assembled. A call that links also links the
runtime, and exports the functions of the program to the library that replaces some of them. All other calls are
unchanged: preprocessing, dependencies, compiler queries, precompiled headers, and unsupported machines.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import NamedTuple

from jarvis_workers.builds.compile_arguments import DROPPED_WITH_VALUE, PATH_VALUES, TEXT_VALUES

LANGUAGES_WITH_SLOTS = ("c", "cpp-output")
C_SUFFIXES = (".c", ".i")
# fmt: off
SOURCE_SUFFIXES = frozenset((
    *C_SUFFIXES, ".s", ".S", ".sx", ".cc", ".cp", ".cxx", ".cpp", ".CPP", ".c++", ".C", ".ii", ".m", ".mi", ".mm", ".M",
    ".f", ".f90", ".f95", ".F", ".F90", ".for", ".go", ".d", ".adb", ".ads",
))
HEADER_SUFFIXES = frozenset((".h", ".hh", ".hpp", ".hxx", ".H"))
# gcc's interprocedural optimisations: what a caller learns from a body or changes in its convention holds no longer
# when the body is replaced. Inlined calls would not pass through the slot at all.
GCC_FLAGS = (
    "-fno-inline", "-fno-partial-inlining", "-fno-ipa-cp", "-fno-ipa-bit-cp", "-fno-ipa-vrp", "-fno-ipa-sra",
    "-fno-ipa-ra", "-fno-ipa-icf", "-fno-ipa-pure-const", "-fno-ipa-reference", "-fno-ipa-stack-alignment",
    "-fno-optimize-sibling-calls", "-fno-reorder-blocks-and-partition", "-fno-toplevel-reorder",
    "-fkeep-static-functions", "-Wno-inline",
)
GCC_11_FLAGS = ("-fno-ipa-modref",)
# clang has no such switches: static functions keep their parameters only without optimisation, and glibc warns of
# checks that need it.
CLANG_FLAGS = ("-O0", "-U_FORTIFY_SOURCE")
# fmt: on
NO_BUILD = re.compile(
    r"-E|-S|-M|-MM|-###|-fsyntax-only|--version|--help.*|-v|-dump(version|machine|specs|fullversion)|-print-.*|--print-.*"
    r"|-m(32|x32|16)|-emit-(llvm|ast)|--analyze|-f(pre)?processed-only"
)
# Link-time optimisation leaves no function to replace; split debug information needs the whole driver.
WHOLE_PROGRAM = re.compile(r"-f(no-)?lto(=.*)?|-flto-.*|-ffat-lto-objects|-fwhole-program|-gsplit-dwarf|-save-temps.*")
DEPENDENCIES = re.compile(r"-MMD|-MD|-MP|-MG|-M[FTQJ].*")
LINK_ONLY = re.compile(
    r"-[lLT].+|-Wl,.*|-shared.*|-static.*|-(no-)?pie|-no-pie|-rdynamic|-export-dynamic|-nostdlib|-nostartfiles"
    r"|-nodefaultlibs|-nolibc|-r|-s|-fuse-ld=.*|-rtlib=.*|-Bstatic|-Bdynamic"
)
LINK_ONLY_VALUES = frozenset(("-l", "-L", "-T", "-u", "-z", "-e", "-Xlinker"))
WITHOUT_RUNTIME = frozenset(("-r", "-Wl,-r", "-nostdlib", "-nodefaultlibs", "-nolibc", "-ffreestanding"))


class SourceInput(NamedTuple):
    """A source to compile, its language as gcc's `-x` calls it, and the object; None if the object is temporary."""

    source: str
    language: str
    object: str | None

    @property
    def takes_slots(self) -> bool:
        return self.language in LANGUAGES_WITH_SLOTS


@dataclass(frozen=True, slots=True)
class SlotBuild:
    """The steps that replace a call of the compiler.

    `flags` and `dependencies` (see `dependency_flags`) are passed to each compilation.  `link` is the command line of
    the linking call, None for `-c`: words, and numbers that refer to the objects of the inputs.
    """

    inputs: tuple[SourceInput, ...]
    flags: tuple[str, ...]
    dependencies: tuple[str, ...]
    link: tuple[str | int, ...] | None
    takes_runtime: bool

    @property
    def debug_flags(self) -> tuple[str, ...]:
        """Return the flags for a line table, unless the call already requests one."""
        levels = [flag for flag in self.flags if re.fullmatch(r"-g(gdb|dwarf(-\d)?)?[0-3]?", flag)]
        return ("-g1",) if not levels or levels[-1].endswith("g0") else ()

    @property
    def assembler_flags(self) -> tuple[str, ...]:
        """Return the flags for the assembler: its own, and those that select the machine."""
        return tuple(flag for flag in self.flags if re.fullmatch(r"-Wa,.*|-m.*|--?target=.*|--sysroot=.*|-B.*", flag))

    @property
    def measures_coverage(self) -> bool:
        """Return whether the program will write coverage files named after the output of the compilation."""
        return bool({"--coverage", "-coverage", "-ftest-coverage", "-fprofile-arcs"} & set(self.flags))

    def dependency_flags(self, one: SourceInput) -> tuple[str, ...]:
        """Return the flags that write the make dependency rule of the original call although the output is assembly."""
        if not {"-MD", "-MMD"} & set(self.dependencies):
            return ()
        target = one.object or object_name(one.source)
        rule = () if self._names("-MF") else ("-MF", str(PurePosixPath(target).with_suffix(".d")))
        return (*self.dependencies, *rule, *(() if self._names("-MT", "-MQ") else ("-MQ", target)))

    def _names(self, *options: str) -> bool:
        return any(word.startswith(options) for word in self.dependencies)


def plan_build(words: Sequence[str]) -> SlotBuild | None:
    """Return the build with slots for the arguments of a C compiler, or None if the call must not be changed.

    Response files must already be expanded.
    """
    if any(NO_BUILD.fullmatch(word) for word in words):
        return None
    reader = _CallReader()
    reader.read(words)
    if reader.is_header or not (reader.inputs or reader.link):
        return None
    compile_only, output = "-c" in words, reader.output
    if compile_only and not any(one.takes_slots for one in reader.inputs):
        return None
    if compile_only and output == "-":
        return None
    inputs = [one._replace(object=output or object_name(one.source)) if compile_only else one for one in reader.inputs]
    link = None if compile_only else (*reader.link, *(("-o", output) if output else ()))
    runtime = link is not None and not WITHOUT_RUNTIME & set(words)
    return SlotBuild(tuple(inputs), tuple(reader.flags), tuple(reader.dependencies), link, runtime)


def object_name(source: str) -> str:
    """Return the default name of the object that `-c` creates from a source."""
    return "-.o" if source == "-" else PurePosixPath(source).with_suffix(".o").name


def link_flags(build: SlotBuild) -> tuple[str, ...]:
    """Return the linker flags that make functions of the program visible to a loaded library."""
    assert build.link is not None
    static = {"-static", "-static-pie"} & set(build.link)
    return () if static else ("-rdynamic", "-ldl")


def without_version_scripts(words: Sequence[str]) -> list[str]:
    """Return linker arguments without version scripts, which hide functions from a library that replaces some of them.

    Versioned symbols need their script: if linking fails without the script, repeat it with the script.
    """
    linked = (_visible(word) if word.startswith("-Wl,") else word for word in words)
    return [word for word in linked if word != "-Wl"]


def _visible(word: str) -> str:
    remaining = iter(word.split(","))
    parts: list[str] = []
    for part in remaining:
        option = part.lstrip("-").partition("=")
        if option[0] not in ("version-script", "exclude-libs"):
            parts.append(part)
        elif not option[1]:
            next(remaining, None)
    return ",".join(parts)


def slot_flags(family: str, version: int) -> tuple[str, ...]:
    """Return the flags for `-S` that keep functions separate.

    `family` is "gcc" or "clang", `version` the major version.
    """
    if family == "clang":
        return CLANG_FLAGS
    return GCC_FLAGS + (GCC_11_FLAGS if version >= 11 else ())


class _CallReader:
    def __init__(self) -> None:
        self.inputs: list[SourceInput] = []
        self.flags: list[str] = []
        self.dependencies: list[str] = []
        self.link: list[str | int] = []
        self.output: str | None = None
        self.is_header = False
        self._language = ""

    def read(self, words: Iterable[str]) -> None:
        remaining = iter(words)
        for word in remaining:
            if word == "-" or not word.startswith("-"):
                self._input(word)
            else:
                self._option(word, remaining)

    def _option(self, word: str, remaining: Iterator[str]) -> None:
        if word.startswith("-x"):
            language = word[2:] or next(remaining, "none")
            self._language = "" if language == "none" else language
        elif word.startswith("-o") and not word.startswith("-object"):
            self.output = word[2:] or next(remaining, "")
        elif DEPENDENCIES.fullmatch(word):
            self.dependencies += [word, next(remaining, "")] if word in ("-MF", "-MT", "-MQ", "-MJ") else [word]
        elif word in LINK_ONLY_VALUES:
            self.link += [word, next(remaining, "")]
        elif LINK_ONLY.fullmatch(word):
            self.link.append(word)
        elif word != "-c" and not WHOLE_PROGRAM.fullmatch(word):
            value = word in DROPPED_WITH_VALUE or word in PATH_VALUES or word in TEXT_VALUES or word == "-Xpreprocessor"
            both = [word, next(remaining, "")] if value else [word]
            self.flags += both
            self.link += both

    def _input(self, name: str) -> None:
        suffix = PurePosixPath(name).suffix
        self.is_header |= self._language.endswith("-header") or (not self._language and suffix in HEADER_SUFFIXES)
        if self._language or suffix in SOURCE_SUFFIXES:
            self.link.append(len(self.inputs))
            language = self._language or ("c" if suffix == ".c" else "cpp-output" if suffix == ".i" else "")
            self.inputs.append(SourceInput(name, language, None))
        else:
            self.link.append(name)
