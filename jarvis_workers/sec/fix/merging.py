"""Three-way merge of lines (diff3), for patches that were made side by side."""

from difflib import SequenceMatcher
from typing import NamedTuple


class _Change(NamedTuple):
    """The lines `first` up to `last` of the base become `lines`."""

    first: int
    last: int
    lines: tuple[bytes, ...]


def merge(base: bytes, ours: bytes, theirs: bytes) -> bytes | None:
    """Return `ours` with the changes from `base` to `theirs`, or None if both change the same or adjacent lines."""
    if ours in (base, theirs):
        return theirs
    lines = base.split(b"\n")
    own, other = _changes(lines, ours.split(b"\n")), _changes(lines, theirs.split(b"\n"))
    if any(_touch(one, two) for one in own for two in other):
        return None
    for change in sorted([*own, *other], reverse=True):
        lines[change.first : change.last] = change.lines
    return b"\n".join(lines)


def _changes(base: list[bytes], new: list[bytes]) -> list[_Change]:
    codes = SequenceMatcher(None, base, new, autojunk=False).get_opcodes()
    return [_Change(first, last, tuple(new[at:to])) for kind, first, last, at, to in codes if kind != "equal"]


def _touch(one: _Change, two: _Change) -> bool:
    return one.first <= two.last and two.first <= one.last
