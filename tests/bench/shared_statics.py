"""Edit C sources so that their code, in a shared library, uses the static variables of the program that loads it.

A program with slots exports a static variable as `file__name` (jarvis_workers/c2rust/slots.py).  After the definition
of the variable, a macro gives it this name: otherwise a second copy of the code would have a state of its own.  A
program that does not contain the variable leaves the code its own.  The assembler refuses a name that its object
defines, so the name has a prefix until RENAMED is applied.
"""

from collections.abc import Iterable

from jarvis_workers.c2rust.project import ProjectItem
from jarvis_workers.c2rust.slots import unit_name
from jarvis_workers.source.clang.unit import Extent

PREFIX = "jvs_"
# A script for sed that turns the output of nm into names for objcopy.
RENAMED = rf"s/.* U {PREFIX}\(.*\)/{PREFIX}\1 \1/p"
# Where a variable is defined, and its name.
StaticVariable = tuple[Extent, str]


def static_variables(items: Iterable[ProjectItem]) -> dict[str, set[StaticVariable]]:
    """Return the static variables of C files, by file."""
    found: dict[str, set[StaticVariable]] = {}
    for item in items:
        definition = item.definition
        if definition.internal and definition.extent.file.endswith(b".c"):
            found.setdefault(item.file, set()).add((definition.extent, definition.name))
    return found


def share_statics(text: bytes, file: str, variables: Iterable[StaticVariable]) -> bytes:
    """Return the text of a file in which the variables have the names that programs export, after PREFIX."""
    starts = [0]
    for line in text.split(b"\n"):
        starts.append(starts[-1] + len(line) + 1)
    for extent, name in sorted(variables, reverse=True):
        end = text.find(b";", starts[extent.end_line - 1] + extent.end_column) + 1
        exported = f"{PREFIX}{unit_name(file)}__{name}"
        renamed = f"\nextern __typeof__({name}) {exported};\n#define {name} {exported}\n"
        text = text[:end] + renamed.encode() + text[end:] if end else text
    return text
