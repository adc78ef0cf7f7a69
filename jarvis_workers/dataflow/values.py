"""What a path knows of a number, a pointer or a piece of memory.

Everything here is immutable.  Unknown is always allowed, and never a reason to report.
"""

from functools import lru_cache
from typing import Any, NamedTuple

__all__ = [
    "ANY",
    "IS_NULL",
    "MAYBE_NULL",
    "MEMORY",
    "NOT_NULL",
    "NULL",
    "UNKNOWN",
    "Object",
    "PathEvent",
    "Place",
    "Range",
    "Value",
    "number",
    "point_to",
]

# A cell: the object, and the way from its start to the part: "", ".field", "[offset in bytes]".
Place = tuple[str, str]
# Sizes, offsets and numbers: (lowest, highest), None where there is no bound.
Range = tuple[int | None, int | None]
UNKNOWN: Range = (None, None)
# Of what is greater than NOT_NULL, NULL may be used.
NOT_NULL, MAYBE_NULL, IS_NULL = 1, 2, 3
# The kinds of objects that have bytes of which the number can be known.
MEMORY = ("stack", "heap", "static", "text")


class PathEvent(NamedTuple):
    """One station of a path; `before` is the station before it, `about` the code that `note` has a place for."""

    before: "PathEvent | None"
    file: str | None
    line: int
    note: str
    about: Any = None


class Value(NamedTuple):
    """A number, a pointer, or both until we know.

    `target` is the object it points into, `at` the offset there in bytes; `null` is 0 where nothing is known.
    `why` is where null or garbage came from, `taint` where input came in; `unset` means never assigned.
    `code` is the part of the target, or the name of the function that is pointed to.  `checked` says that somebody
    has compared it with a bound.  `kind` is the class of a C++ object, or "#NAME" for an unknown constant.
    """

    range: Range = UNKNOWN
    target: str | None = None
    at: Range = (0, 0)
    null: int = 0
    why: PathEvent | None = None
    taint: PathEvent | None = None
    unset: bool = False
    code: str | None = None
    checked: bool = False
    kind: str | None = None

    def compared(self, reach: Range, null: int, *, checked: bool) -> "Value":
        """Return what is known of it behind a comparison; `_replace` takes three times as long."""
        _, target, at, _, why, taint, unset, code, _, kind = self
        return Value(reach, target, at, null, why, taint, unset, code, checked, kind)

    def moved(self, at: Range, taint: PathEvent | None) -> "Value":
        """Return the pointer at another place of its object."""
        reach, target, _, null, why, _, unset, code, checked, kind = self
        return Value(reach, target, at, null, why, taint, unset, code, checked, kind)


class Object(NamedTuple):
    """A piece of memory, a stream or a descriptor.

    `kind` is "stack", "heap", "static", "text", "stream", "descriptor" or "other" (somebody else's); `family` is what
    made it (malloc, new, new[], fopen, open).  `size` is in bytes; `length` is that of the string in it, in elements;
    `filled` is how many of its first elements are set and not zero; `unset_from` is the byte from which on nothing
    was set, None where we do not know.  `lost` means that it is not ours to release.
    """

    kind: str
    family: str = ""
    size: Range = UNKNOWN
    element: int = 1
    length: Range = UNKNOWN
    filled: int = 0
    unset_from: int | None = None
    taint: PathEvent | None = None
    made: PathEvent | None = None
    freed: PathEvent | None = None
    lost: bool = False
    name: str = ""


ANY = Value()
NULL = Value(range=(0, 0), null=IS_NULL)


@lru_cache(4096)
def number(low: int | None, high: int | None = None) -> Value:
    """Return a number in a range; one argument is a constant."""
    return Value(range=(low, low if high is None else high))


def point_to(target: str) -> Value:
    return Value(target=target, null=NOT_NULL)
