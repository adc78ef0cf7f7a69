"""Abstract values: numbers, pointers and objects in memory.

All values are immutable.  Unknown is a valid value everywhere, and never a reason to report.
"""

from functools import lru_cache
from typing import Any, NamedTuple

# A cell: the object, and the part of it: "", ".field" or "[offset in bytes]".
Place = tuple[str, str]
# The part of a stream that holds the descriptor which it closes.
OWNED_DESCRIPTOR = ".descriptor"
# A range of sizes, offsets or numbers: (lowest, highest), None where there is no bound.
Range = tuple[int | None, int | None]
UNKNOWN: Range = (None, None)
# Nullness, 0 if unknown; above NOT_NULL, a use may dereference NULL.
NOT_NULL, MAYBE_NULL, IS_NULL = 1, 2, 3
# The end of the event that a generator makes a number of the type int, which is not negative.
ARBITRARY = "returns an arbitrary number"
# The end of a local variable before that of its function.
OUT_OF_SCOPE = "the block of {} ends"
# The kinds of objects that have a size in bytes.
MEMORY = ("stack", "heap", "static", "text", "field")


class PathEvent(NamedTuple):
    """An event of a trace; `before` is the previous event, `about` the code that replaces {} in `note`.

    `doubt` is subtracted from the confidence of the findings that begin with the event: its evidence is weak.
    `undecided` marks a branch that the path took although its condition may exclude what happened before.
    """

    before: "PathEvent | None"
    file: str | None
    line: int
    note: str
    about: Any = None
    doubt: float = 0.0
    undecided: bool = False


class Value(NamedTuple):
    """A number, a pointer, or a value that may be either.

    `target` is the object it points into and `at` the offset there in bytes; `null` is 0 if unknown.  `why` is the
    event that made it NULL or uninitialized, `taint` the event that read it as input; `unset` means never assigned.
    `code` is the part of the target, or the name of the function that it points to.  `checked` means that it was
    compared with a bound.  `kind` is the class of a C++ object, or "#NAME" for an unknown constant.
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
        """Return the value after a comparison; three times as fast as `_replace`."""
        _, target, at, _, why, taint, unset, code, _, kind = self
        return Value(reach, target, at, null, why, taint, unset, code, checked, kind)

    def into(self, target: str) -> "Value":
        """Return the pointer, with an object that it points into."""
        reach, _, at, null, why, taint, unset, code, checked, kind = self
        return Value(reach, target, at, null, why, taint, unset, code, checked, kind)

    def nulled(self, why: PathEvent | None) -> "Value":
        """Return NULL in place of the pointer."""
        _, _, at, _, _, taint, unset, code, checked, kind = self
        return Value((0, 0), None, at, IS_NULL, why, taint, unset, code, checked, kind)

    def non_null(self) -> "Value":
        """Return the pointer, which is not NULL."""
        reach, target, at, _, why, taint, unset, code, checked, kind = self
        return Value(reach, target, at, NOT_NULL, why, taint, unset, code, checked, kind)

    def moved(self, at: Range, taint: PathEvent | None) -> "Value":
        """Return the pointer at another offset in its object."""
        reach, target, _, null, why, _, unset, code, checked, kind = self
        return Value(reach, target, at, null, why, taint, unset, code, checked, kind)


class OpenMove(NamedTuple):
    """A variable that moves without a bound: what explains it, and its direction.

    One that moves further than what a loop reads comes to element `reach`, a number or a multiple of a variable; `line`
    is where it moves furthest.
    """

    event: PathEvent
    step: int
    reach: "int | LinearExtent | None" = None
    line: int = 0


class PendingCheck(NamedTuple):
    """An argument of a call that is clean if a condition on the result of the call holds."""

    code: Any
    value: Value


class LinearExtent(NamedTuple):
    """`unit` times a local variable plus `extra`, in bytes or elements; `variable` is the cell of the variable."""

    variable: Place
    unit: int
    extra: int


class Object(NamedTuple):
    """A piece of memory, a stream or a descriptor.

    `kind` is "stack", "heap", "static", "text", "field" (an array in a struct), "stream", "descriptor" or "other"
    (owned elsewhere); `family` is its allocator (malloc, new, new[], fopen, open).  `size` is in bytes; `length` is
    that of its string, in elements; `filled` is the number of leading elements that are set and not zero;
    `unset_from` is the offset of the first uninitialized byte, None if unknown; `patchy` means that some bytes behind
    it are set.  `lost` means that ownership has
    escaped, `lent` that an unknown function got it that only seems to read it.  `extent` is a size that is a multiple
    of a variable.  `full` is the event that may have filled it up to its end, so that its string is not terminated.
    `own` means that its string was printed from constants and numbers.
    `replaces` is the object that realloc has released if this one is not NULL.
    """

    kind: str
    family: str = ""
    size: Range = UNKNOWN
    element: int = 1
    length: Range = UNKNOWN
    filled: int = 0
    unset_from: int | None = None
    patchy: bool = False
    taint: PathEvent | None = None
    made: PathEvent | None = None
    freed: PathEvent | None = None
    lost: bool = False
    lent: bool = False
    name: str = ""
    extent: LinearExtent | None = None
    full: PathEvent | None = None
    own: bool = False
    replaces: str | None = None


ANY = Value()
NULL = Value(range=(0, 0), null=IS_NULL)


@lru_cache(4096)
def number(low: int | None, high: int | None = None) -> Value:
    """Return a number in a range; with one argument, a constant."""
    return Value(range=(low, low if high is None else high))


def point_to(target: str) -> Value:
    return Value(target=target, null=NOT_NULL)
