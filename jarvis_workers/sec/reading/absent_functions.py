"""The functions that the pieces of a group call, and that are not part of the tree: nobody can look them up.

Without their names a reader searches for them, which costs a whole further request, or asks that another looks at them.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from jarvis_workers.dataflow.library import LIBRARY
from jarvis_workers.sec.judge.slices import CodeIndex
from jarvis_workers.sec.judge.slices.keywords import KEYWORD_BYTES
from jarvis_workers.sec.judge.slices.places import offsets_of
from jarvis_workers.sec.reading.outside_definitions import PlacedLines

# No member of a structure or a namespace, and no method.
CALLED = re.compile(rb"(?<![\w.>:])([A-Za-z_]\w{1,80}+)[ \t]*+\(")
# In C++, what looks like a call may be a cast, a constructor, or a method that is inherited.
CPP = re.compile(rb"\bnamespace\s+\w|\btemplate\s*<|^\s*class\s+\w", re.MULTILINE)
SHOWN_MAX = 40


def absent_functions(index: CodeIndex, pieces: Sequence[PlacedLines]) -> list[str]:
    """Return the names that C code calls most often and that nothing in the tree defines, in alphabetical order.

    The commonest functions of the C library are left out.
    """
    if not index.is_whole:
        return []
    count = Counter[bytes]()
    near = dict[bytes, str]()
    for piece in pieces:
        for name in _called(piece):
            near.setdefault(name, piece.file.path)
            count[name] += 1
    often = sorted(count, key=lambda name: (-count[name], name))
    absent = [name for name in often if not _is_defined(index, name, near[name])]
    return sorted(name.decode() for name in absent[:SHOWN_MAX])


def _called(piece: PlacedLines) -> Iterator[bytes]:
    if piece.file.language != "c/cpp" or CPP.search(piece.file.masked):
        return iter(())
    keywords = KEYWORD_BYTES[piece.file.language]
    names = CALLED.findall(piece.file.masked, *offsets_of(piece.file, piece.first, piece.last))
    return (name for name in names if name not in keywords and name.decode() not in LIBRARY)


def _is_defined(index: CodeIndex, name: bytes, near: str) -> bool:
    return index.definition(name, near) is not None or bool(index.meanings(name, near))
