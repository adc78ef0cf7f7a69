"""Edit C sources so that their code, in a shared library, uses the static symbols of the program that loads it.

A program with slots exports a static variable or function as `file__name` (jarvis_workers/c2rust/slots.py).  After the
declaration, a macro gives it this name: otherwise a second copy of the code would have a state of its own, and call
functions that nothing traces.  Where a program does not contain a symbol, the code uses its own.  The assembler refuses
a name that its object defines, so the name has a prefix until RENAMED is applied.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

from jarvis_workers.c2rust.project import ProjectItem
from jarvis_workers.c2rust.slots import unit_name
from jarvis_workers.source.clang.unit import Extent

PREFIX = "jvs_"
COMMENT_OR_DIRECTIVE = re.compile(rb"/\*.*?\*/|//[^\n]*|^[ \t]*#(?:\\.|[^\\\n])*", re.DOTALL | re.MULTILINE)
# A script for sed that turns the output of nm into names for objcopy.
RENAMED = rf"s/.* U {PREFIX}\(.*\)/{PREFIX}\1 \1/p"


class StaticSymbol(NamedTuple):
    """Where a static variable or function is defined, and its name."""

    extent: Extent
    is_function: bool
    name: str


def static_symbols(items: Iterable[ProjectItem]) -> dict[str, set[StaticSymbol]]:
    """Return the static variables and functions of C files, by file."""
    found: dict[str, set[StaticSymbol]] = {}
    for item in items:
        definition = item.definition
        if definition.internal and definition.extent.file.endswith(b".c"):
            found.setdefault(item.file, set()).add(StaticSymbol(definition.extent, item.is_function, definition.name))
    return found


def share_statics(text: bytes, file: str, symbols: Iterable[StaticSymbol]) -> bytes:
    """Return the text of a file in which the symbols have the names that programs export, after PREFIX."""
    starts, plain = [0], COMMENT_OR_DIRECTIVE.sub(lambda found: b" " * len(found[0]), text)
    for line in text.split(b"\n"):
        starts.append(starts[-1] + len(line) + 1)
    inserted = list[tuple[int, bytes]]()
    for extent, is_function, name in symbols:
        begin = starts[extent.line - 1] + extent.column - 1
        end = starts[extent.end_line - 1] + extent.end_column
        end = end if is_function else plain.find(b";", end) + 1
        exported = f"{PREFIX}{unit_name(file)}__{name}"
        renamed = f"\nextern __typeof__({name}) {exported};\n#define {name} {exported}\n".encode()
        mentioned = re.search(rf"\b{name}\b".encode(), plain)
        declared = plain.find(b";", mentioned.end()) + 1 if mentioned and is_function else end
        if 0 < declared < begin:
            inserted += (declared, renamed), (begin, f"\n#undef {name}\n".encode())
            renamed = f"\n#define {name} {exported}\n".encode()
        inserted += [(end, renamed)] if end else []
    for at, words in sorted(inserted, reverse=True):
        text = text[:at] + words + text[at:]
    return text
