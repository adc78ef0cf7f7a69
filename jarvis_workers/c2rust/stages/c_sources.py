"""The C text of functions, from the files of the snapshot."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from jarvis_workers.c2rust.conversion import FunctionResult
from jarvis_workers.paths import shown
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.snapshots.reader import open_snapshot


class CodePlace(NamedTuple):
    """The place of a function: its file in display form, its first and its last line."""

    file: str
    line: int
    end_line: int


def c_texts(blobs: Blobs, snapshot: str, functions: Sequence[FunctionResult]) -> dict[str, str]:
    """Return the C text of functions by slot."""
    return read_c_texts(blobs, snapshot, {one.slot: CodePlace(one.file, one.line, one.end_line) for one in functions})


def read_c_texts(blobs: Blobs, snapshot: str, places: Mapping[str, CodePlace]) -> dict[str, str]:
    """Return the C text of functions by slot; `places` are by slot, too."""
    by_file = defaultdict[str, list[str]](list)
    for slot, place in places.items():
        by_file[place.file].append(slot)
    texts: dict[str, str] = {}
    with open_snapshot(blobs, snapshot) as reader:
        for entry in reader.files():
            if slots := by_file.get(shown(entry.path)):
                lines = reader.read(entry).decode(errors="replace").split("\n")
                texts |= {slot: "\n".join(lines[places[slot].line - 1 : places[slot].end_line]) for slot in slots}
    return texts
