"""Find the programs with slots that a build has created."""

import os
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

MOST_PROGRAMS = 64
MOST_BYTES = 256 << 20
# Start of a file: magic number, type, and where its program headers are (ELF-64, little-endian).
HEADER = struct.Struct("<4s12xH14xQ14xHH")
ELF, EXECUTABLE, SHARED = b"\x7fELF", 2, 3
# The name of the section with the table of slots (c2rust/slots.py), and a header that only programs have.
SLOTS, INTERPRETER = b"jv_slots\0", 3


class Programs(NamedTuple):
    """Paths relative to the project: programs with slots, and directories of shared libraries with slots."""

    programs: tuple[str, ...]
    libraries: tuple[str, ...]


def find_programs(project: Path) -> Programs:
    """Return the programs and libraries below a directory, sorted by path.

    The content of the directory is not trusted.
    """
    programs, libraries = list[str](), set[str]()
    for path in _files(project):
        kind = _kind(path)
        if kind == "library":
            libraries.add(str(path.parent.relative_to(project)))
        elif kind == "program" and len(programs) < MOST_PROGRAMS:
            programs.append(str(path.relative_to(project)))
    return Programs(tuple(programs), tuple(sorted(libraries)))


def _files(project: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(project):
        folders.sort()
        yield from (Path(folder, name) for name in sorted(names))


def _kind(path: Path) -> str:
    """Return "program" or "library" for a file with slots, else ""."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return ""
    with os.fdopen(descriptor, "rb") as file:
        start = file.read(HEADER.size)
        if not start.startswith(ELF) or len(start) < HEADER.size:
            return ""
        content = start + file.read(MOST_BYTES)
    _, type_, offset, size, count = HEADER.unpack(start)
    if type_ not in (EXECUTABLE, SHARED) or SLOTS not in content:
        return ""
    headers = (content[offset + at * size : offset + at * size + 4] for at in range(count))
    return "program" if type_ == EXECUTABLE or INTERPRETER.to_bytes(4, "little") in headers else "library"
