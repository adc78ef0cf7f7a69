"""Parse a compiler's assembly: the functions and variables that it defines, their linkage and their source location.

Only gcc's and clang's output for ELF is supported: one directive or label per line. Both compilers mark inline assembly
at file scope in their output; it is skipped here, so its definitions do not change.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from posixpath import normpath
from typing import Literal, NamedTuple

from jarvis_workers.paths import as_text, from_text

Linkage = Literal["global", "weak", "local"]

DIRECTIVE = re.compile(r"\s*\.(type|size|globl|global|weak|local|hidden|internal|file|loc|set)\s+(.*)")
LABEL = re.compile(r"([A-Za-z_$][\w.$]*):")
SYMBOL = re.compile(r"[\w.$]+")
FILE_ENTRY = re.compile(r'(\d+)\s+"((?:[^"\\]|\\.)*)"(?:\s+"((?:[^"\\]|\\.)*)")?')
LOCATION = re.compile(r"(\d+)\s+(\d+)")
ESCAPE = re.compile(rb"\\([0-7]{3}|.)", re.DOTALL)
INLINE_BEGINS = ("#APP", "//APP", "Start of file scope inline assembly")
INLINE_ENDS = ("#NO_APP", "//NO_APP", "End of file scope inline assembly")


class Place(NamedTuple):
    """The location of a function according to the line table; "" and 0 without one."""

    file: str
    line: int


@dataclass(slots=True)
class Survey:
    """The definitions in an assembly text.

    `resolvers` are functions that the dynamic linker calls to choose an implementation (ifunc).
    """

    functions: dict[str, Place] = field(default_factory=dict)
    variables: set[str] = field(default_factory=set)
    exported: set[str] = field(default_factory=set)
    weak: set[str] = field(default_factory=set)
    resolvers: set[str] = field(default_factory=set)
    labels: set[str] = field(default_factory=set)

    def linkage(self, symbol: str) -> Linkage:
        """Return the linkage of a symbol."""
        if symbol in self.weak:
            return "weak"
        return "global" if symbol in self.exported else "local"


def compiled_lines(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield index and text of the directives and labels from the compiler, without those in inline assembly."""
    inline = False
    for index, line in enumerate(lines):
        if line.startswith("\t") and line[1:2].isalnum():
            continue
        if any(mark in line for mark in INLINE_ENDS):
            inline = False
        elif any(mark in line for mark in INLINE_BEGINS):
            inline = True
        elif not inline:
            yield index, line


def survey(lines: Sequence[str]) -> Survey:
    """Return the definitions in the lines of an assembly text."""
    reader = _AssemblyReader()
    for _, line in compiled_lines(lines):
        if label := LABEL.match(line):
            reader.read_label(label[1])
        elif directive := DIRECTIVE.match(line):
            reader.read_directive(directive[1], directive[2])
    result = reader.result
    objects = {symbol for symbol, kind in reader.types.items() if kind in ("object", "tls_object")}
    result.variables |= objects & result.labels
    result.resolvers &= result.functions.keys()
    return result


class _AssemblyReader:
    def __init__(self) -> None:
        self.result = Survey()
        self.types: dict[str, str] = {}
        self._files: dict[str, str] = {}
        self._directory = ""
        self._unplaced = ""

    def read_label(self, symbol: str) -> None:
        self.result.labels.add(symbol)
        if self.types.get(symbol) == "function":
            self.result.functions[symbol] = Place("", 0)
            self._unplaced = symbol

    def read_directive(self, directive: str, operands: str) -> None:
        match = SYMBOL.match(operands)
        symbol = match[0] if match else ""
        if directive in ("globl", "global"):
            self.result.exported.add(symbol)
        elif directive == "weak":
            self.result.weak.add(symbol)
        elif directive == "local":
            self.result.variables.add(symbol)
        elif directive == "type":
            self.types[symbol] = operands.partition(",")[2].split()[0].lstrip("@%")
        elif directive == "set" and self.types.get(symbol) == "gnu_indirect_function":
            self.result.resolvers.add(operands.partition(",")[2].split()[0])
        elif directive == "file":
            self._read_file(operands)
        elif directive == "loc":
            self._read_location(operands)

    def _read_file(self, operands: str) -> None:
        """Parse `number "file"` or `number "directory" "file"`; entry 0 is the directory of the compilation."""
        entry = FILE_ENTRY.match(operands)
        if not entry:
            return
        directory, file = (
            ("", _unescaped(entry[2])) if entry[3] is None else (_unescaped(entry[2]), _unescaped(entry[3]))
        )
        if entry[1] == "0":
            self._directory = directory
        self._files[entry[1]] = normpath(f"{_below(self._directory, _below(directory, file))}")

    def _read_location(self, operands: str) -> None:
        place = LOCATION.match(operands)
        if place and self._unplaced:
            self.result.functions[self._unplaced] = Place(self._files.get(place[1], ""), int(place[2]))
            self._unplaced = ""


def _below(directory: str, path: str) -> str:
    return path if path.startswith("/") or not directory else f"{directory}/{path}"


def _unescaped(text: str) -> str:
    """Undo the escapes of the assembler: three octal digits, or the character itself."""
    raw = ESCAPE.sub(lambda escape: _byte(escape[1]), from_text(text))
    return as_text(raw)


def _byte(escape: bytes) -> bytes:
    return bytes([int(escape, 8) & 0xFF]) if len(escape) == 3 else escape
