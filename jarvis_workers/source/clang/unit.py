"""Plain values of a translation unit: its compile command, symbols, references and diagnostics.

All paths are bytes, relative to the root of the project, with "/" as separator; files outside the root, such as system
headers, have absolute paths and contribute no symbols.
"""

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

Category = Literal["function", "type", "global", "macro"]
Language = Literal["c", "c++"]
ReferenceKind = Literal["call", "address", "global", "type", "macro"]
Severity = Literal["warning", "error", "fatal"]


class CompileCommand(NamedTuple):
    """The compile command of a source file.

    `arguments` are the arguments relevant to parsing, without compiler, file, `-o`, `-c` and `-M*`; a path below the
    root of the project begins with `ROOT`, since workers have their own copies of the tree.
    """

    file: bytes
    directory: bytes
    arguments: tuple[str, ...]


# Placeholder for the root of the project in the arguments of a command.
ROOT = "{root}"


class Extent(NamedTuple):
    """The extent of a declaration: lines and columns count from 1, columns in bytes; the end is inclusive."""

    file: bytes
    line: int
    column: int
    end_line: int
    end_column: int


class CParameter(NamedTuple):
    """A parameter of a function; an unnamed one has the name ""."""

    name: str
    type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SymbolDefinition:
    """A definition of a function, type, global variable or macro below the root of the project.

    `key` identifies the symbol across all units: clang's USR, preceded by the relative path and "#" if the symbol is
    local to its file (internal linkage, macros).  `kind` refines the category: function, method, constructor, …;
    struct, union, enum, typedef, class, …; variable; macro.  `source_hash` is the SHA-256 of the text of the extent.
    `facts` are sorted names of properties that a translation to Rust needs, such as "internal", "variadic" or
    "bit_fields".
    """

    key: str
    category: Category
    kind: str
    name: str
    qualified_name: str
    extent: Extent
    language: Language
    signature: str = ""
    return_type: str = ""
    parameters: tuple[CParameter, ...] = ()
    source_hash: str = ""
    facts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitSymbol(SymbolDefinition):
    """A symbol of a unit; `is_definition` is false for an incomplete type.

    Prototypes and extern declarations of variables are not symbols.
    """

    is_definition: bool = True


class Reference(NamedTuple):
    """A use of the symbol with the key `target` in the definition of the symbol `source`, at most one per kind.

    The kind "address" means that a function's address is taken without a call, as in a table of function pointers.
    """

    source: str
    target: str
    kind: ReferenceKind


class Diagnostic(NamedTuple):
    """A diagnostic message of clang; `file` is empty if the message has no location."""

    severity: Severity
    file: bytes
    line: int
    column: int
    message: str


@dataclass(frozen=True, slots=True)
class Unit:
    """The contents of a translation unit. All sequences are in a fixed order, independent of the machine.

    `externals` are the key and name of each reference target that has no symbol in this unit, such as a function of the
    C library.  `includes` are the files of the project that the unit reads in addition to `file`.  `arguments_hash` is
    the SHA-256 of the directory and the arguments.  If there are `errors`, symbols and references are incomplete.
    """

    file: bytes
    language: Language
    arguments_hash: str
    symbols: tuple[UnitSymbol, ...] = ()
    references: tuple[Reference, ...] = ()
    externals: tuple[tuple[str, str], ...] = ()
    includes: tuple[bytes, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """The diagnostics that are not warnings."""
        return tuple(one for one in self.diagnostics if one.severity != "warning")


# The arguments for libclang: our own, and those of a compile command that change the meaning of a source file.

# Options that take their value from the next argument if it is not joined to them.
WITH_VALUE = (
    *("-include", "-imacros", "-isystem", "-iquote", "-idirafter", "-iprefix", "-iwithprefixbefore", "-iwithprefix"),
    *("-isysroot", "--sysroot", "--target", "-target", "-I", "-D", "-U", "-x"),
)
JOINED = (
    *("-include", "-imacros", "-isystem", "-iquote", "-idirafter", "-isysroot", "--sysroot=", "--target="),
    *("-I", "-D", "-U", "-x"),
)
PRECOMPILED = "-include-pch"
# Options of one word that change the meaning of a source, and that gcc and clang have.
MEANINGFUL = re.compile(
    r"""-ansi|-undef|-trigraphs|-pthread|-nostdinc(\+\+)?|-nostdlibinc|-O([0-3sg]|fast)?|-m(32|64|x32|16)
    |-f(no-)?(signed-char|unsigned-char|signed-bitfields|unsigned-bitfields|short-enums|short-wchar|builtin
        |builtin-[a-z_0-9]+|ms-extensions|gnu89-inline|freestanding|hosted|blocks|openmp|wrapv|char8_t|exceptions|rtti
        |PIC|pic|PIE|pie|math-errno|fast-math|asm|lax-vector-conversions|dollars-in-identifiers|strict-aliasing)
    |-fpack-struct(=\d+)?
    |-m(no-)?(sse[\d.]*|sse4[\da.]*|ssse3|avx|avx2|avx512(f|cd|bw|dq|vl|vbmi|ifma|vnni|bitalg|vpopcntdq)|aes|pclmul|bmi2?
        |fma4?|f16c|popcnt|lzcnt|sha|mmx|3dnow|rdrnd|rdseed|adx|xsave\w*|crc32|gfni|vaes|vpclmulqdq|movbe|ms-bitfields)""",
    re.VERBOSE,
)
CHOICES = re.compile(r"--?std=.*|-m(arch|cpu|fpu|abi|float-abi)=[\w.+-]+")
# Default errors of clang 18 that are only warnings in gcc 12.
WARNINGS = (
    *("implicit-function-declaration", "implicit-int", "int-conversion"),
    *("incompatible-function-pointer-types", "return-mismatch"),
)
CPP_SUFFIXES = (b".cc", b".cpp", b".cxx", b".c++", b".C", b".CC", b".cp", b".hh", b".hpp", b".hxx", b".h++", b".H")


def parser_arguments(root: bytes, command: CompileCommand, headers: Path) -> list[bytes]:
    """Return the arguments for libclang without the file; `root` is absolute, `headers` is clang's header directory."""
    own = [os.fsencode(argument).replace(ROOT.encode(), root) for argument in _with_meaning(command.arguments)]
    directory = os.path.normpath(os.path.join(root, command.directory))
    # -resource-dir keeps the headers at their position in the search order, but requires this directory name.
    place = (b"-resource-dir", headers.parent) if headers.name == "include" else (b"-isystem", headers)
    warnings = [f"{form}{name}".encode() for name in WARNINGS for form in ("-W", "-Wno-error=")]
    return [
        *own,
        b"-working-directory=" + directory,
        place[0],
        os.fsencode(place[1]),
        b"-Wno-error",
        b"-Wno-everything",
        *warnings,
    ]


def language_of(command: CompileCommand) -> Language:
    """Return the language of a unit: like a compiler, choose it by the last `-x`, or else by the suffix."""
    chosen = ""
    for index, argument in enumerate(command.arguments):
        if argument.startswith("-x"):
            chosen = argument[2:] or "".join(command.arguments[index + 1 : index + 2])
    if chosen and chosen != "none":
        return "c++" if "c++" in chosen else "c"
    return "c++" if command.file.endswith(CPP_SUFFIXES) else "c"


def _with_meaning(arguments: Sequence[str]) -> Iterator[str]:
    remaining = iter(arguments)
    for argument in remaining:
        if argument in WITH_VALUE:
            value = next(remaining, None)
            if value is not None:
                yield from (argument, value)
        elif any(rule.fullmatch(argument) for rule in (MEANINGFUL, CHOICES)) or _is_joined(argument):
            yield argument


def _is_joined(argument: str) -> bool:
    return argument.startswith(JOINED) and not argument.startswith(PRECOMPILED)
