"""The arguments of a compiler call that affect parsing, and the sources that it compiles.

An allow-list, because clang rejects arguments that only gcc supports (`-fno-ipa-cp`), and some arguments load code
(`-fplugin`).
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from jarvis_workers.source.clang.unit import MEANINGFUL

# Places a path: absolute from the directory of the command, or relative to the root of the project.
Place = Callable[[str], str]

COMPILER = re.compile(
    r"(?:.*-)?(?:cc|c\+\+|gcc|g\+\+|clang|clang\+\+|c89|c99|icc|icx|icpc|icpx|tcc|pcc|CC|cxx)(?:-[\d.]+)?"
)
C_SUFFIXES = ("c", "i")
CPP_SUFFIXES = ("cc", "cpp", "cxx", "c++", "C", "CC", "CPP", "cp", "ii")
# The language of a compiler that takes C files for C++; other suffixes decide for themselves.
C_AS_CPP = "C as C++"
LANGUAGES = {"c": "c", "c++": "c++", "cpp-output": "c", "c++-cpp-output": "c++"}

PATH_VALUES = ("-isystem", "-iquote", "-idirafter", "-isysroot", "-iprefix", "-include", "-imacros", "-I")
FILE_VALUES = ("-include", "-imacros")
TEXT_VALUES = ("-iwithprefixbefore", "-iwithprefix", "-D", "-U")
JOINED = ("-I", "-D", "-U")
LONG = {
    "--include-directory": "-I",
    "--define-macro": "-D",
    "--undefine-macro": "-U",
    "--include": "-include",
    "--imacros": "-imacros",
    "--sysroot": "-isysroot",
    "-target": "--target",
    "--target": "--target",
}
# Options that do not matter for parsing and take the next word as their value.
# fmt: off
DROPPED_WITH_VALUE = frozenset((
    "-include-pch", "-o", "-MF", "-MT", "-MQ", "-MJ", "-L", "-l", "-Xlinker", "-Xassembler", "-Xclang", "-mllvm", "-T",
    "-u", "-z", "-e", "-A", "-G", "-B", "--param", "-aux-info", "-wrapper", "-arch", "-framework", "-dumpbase",
    "-dumpbase-ext", "-dumpdir", "-imultilib", "-iplugindir", "-install_name", "--serialize-diagnostics",
    "-index-store-path",
))
# fmt: on
STANDARDS = re.compile(
    r"(?:c89|c90|c99|c9x|c11|c1x|c17|c18|c2x|c23|gnu89|gnu90|gnu99|gnu9x|gnu11|gnu1x|gnu17|gnu18|gnu2x|gnu23"
    r"|iso9899:(?:1990|199409|1999|199x|2011|2017|2018)|(?:c|gnu)\+\+(?:98|03|0x|11|1y|14|1z|17|2a|20|2b|23|2c|26))"
)
NEWEST = {"c2y": "c23", "gnu2y": "gnu23", "iso9899:2024": "c23"}
PROCESSORS = re.compile(
    r"x86-64(?:-v[234])?|i[3456]86|pentium\w*|core2|nehalem|westmere|sandybridge|ivybridge|haswell|broadwell|skylake"
    r"|skylake-avx512|icelake-(?:client|server)|znver[1234]|k8|amdfam10|bonnell|silvermont|armv[789][\w.+-]*"
)
NO_COMPILATION = frozenset(("-E", "-M", "-MM", "-###", "-fsyntax-only", "--version", "-dumpversion", "-dumpmachine"))
# Two compilations that differ in these alone read the same source: position-independent and not, optimised and not.
CODE_GENERATION = re.compile(r"-O.*|-f(no-)?(PIC|pic|PIE|pie|strict-aliasing|math-errno|wrapv)|-DPIC(=.*)?|-DNPIC")


class CompiledSource(NamedTuple):
    """A source as named in a command, and its language by `-x`, or C_AS_CPP; None if the suffix decides."""

    name: str
    language: str | None


@dataclass(frozen=True, slots=True)
class CompilerCall:
    """A compiler call: its sources, the arguments for parsing, and whether it compiles anything."""

    sources: tuple[CompiledSource, ...]
    arguments: tuple[str, ...]
    compiles: bool
    language: str | None


def read_call(words: Sequence[str], place: Place, exists: Callable[[str], bool]) -> CompilerCall:
    """Read the words of a compile command; launchers before the compiler, such as ccache or libtool, are dropped.

    `place` maps all directories; it maps a file of `-include` only if it `exists` there, otherwise the compiler
    searches for the file.
    """
    first = next((place for place, word in enumerate(words) if COMPILER.fullmatch(word.rpartition("/")[2])), 0)
    default = C_AS_CPP if words and re.search(r"(\+\+|CC|cxx|icpc|icpx)(-[\d.]+)?$", words[first]) else None
    reader = _ArgumentReader(place, exists, default)
    reader.read(words[first + 1 :])
    return CompilerCall(tuple(reader.sources), tuple(reader.arguments), reader.compiles, reader.language)


def language_of(source: CompiledSource) -> str | None:
    """Return "c" or "c++", or None for another language such as assembler."""
    if source.language not in (None, "none", C_AS_CPP):
        return LANGUAGES.get(source.language)
    suffix = source.name.rpartition(".")[2] if "." in source.name else ""
    if suffix in CPP_SUFFIXES:
        return "c++"
    if suffix in C_SUFFIXES:
        return "c++" if source.language == C_AS_CPP else "c"
    return None


def parsing_key(arguments: Sequence[str]) -> tuple[str, ...]:
    """Return the arguments without those that affect only code generation."""
    return tuple(argument for argument in arguments if not CODE_GENERATION.fullmatch(argument))


class _ArgumentReader:
    def __init__(self, place: Place, exists: Callable[[str], bool], default: str | None) -> None:
        self._place, self._exists, self._default = place, exists, default
        self.language = default
        self.sources: list[CompiledSource] = []
        self.arguments: list[str] = []
        self.compiles = True

    def read(self, words: Sequence[str]) -> None:
        remaining = iter(words)
        for word in remaining:
            if word == "-Xpreprocessor":
                self._option(next(remaining, ""), remaining)
            elif word.startswith("-Wp,"):
                inner = iter(word[4:].split(","))
                for argument in inner:
                    self._option(argument, inner)
            elif word.startswith("-") and word != "-":
                self._option(word, remaining)
            else:
                self.sources.append(CompiledSource(word, self.language))

    def _option(self, word: str, remaining: Iterator[str]) -> None:
        name, equals, value = word.partition("=")
        if word in NO_COMPILATION:
            self.compiles = False
        elif word.startswith("-x"):
            chosen = word[2:] or next(remaining, "none")
            self.language = self._default if chosen == "none" else chosen
        elif name in LONG:
            self._valued(LONG[name], value if equals else next(remaining, ""))
        elif word in DROPPED_WITH_VALUE:
            next(remaining, None)
        elif option := next((option for option in (*PATH_VALUES, *TEXT_VALUES) if word.startswith(option)), None):
            self._valued(option, word[len(option) :] or next(remaining, ""))
        elif word.startswith(("-std=", "--std=")):
            standard = NEWEST.get(value, value)
            self.arguments += [f"-std={standard}"] if STANDARDS.fullmatch(standard) else []
        elif name in ("-march", "-mcpu"):
            self.arguments += [word] if PROCESSORS.fullmatch(value) else []
        elif MEANINGFUL.fullmatch(word):
            self.arguments.append(word)

    def _valued(self, option: str, value: str) -> None:
        if option == "--target":
            self.arguments.append(f"--target={value}")
            return
        if option in FILE_VALUES:
            value = self._place(value) if self._exists(value) else value
        elif option in PATH_VALUES and not value.startswith(("=", "$SYSROOT")):
            value = self._place(value)
        self.arguments += [option + value] if option in JOINED else [option, value]
