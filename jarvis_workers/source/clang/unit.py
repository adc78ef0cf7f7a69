"""Plain values of a translation unit: its compile command, symbols, references and diagnostics.

All paths are bytes, relative to the root of the project, with "/" as separator; files outside the root, such as system
headers, have absolute paths and contribute no symbols.
"""

from dataclasses import dataclass
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
