"""Which errors of sanitizers show which weaknesses (CWE).

Errors that any program can cause with enough input, such as an exhausted memory, show only the weakness of that name.
"""

MEMORY = frozenset(
    (118, 119, 120, 121, 122, 123, 124, 125, 126, 127, 129, 130, 131, 134, 170, 193, 242, 415, 416, 464, 466, 467, 468)
) | frozenset((562, 590, 665, 676, 680, 681, 704, 761, 762, 763, 785, 786, 787, 788, 805, 806, 822, 823, 824, 825, 843))
# A pointer is used after its object has ended, or is not that of an object: no bound is wrong; and the reverse.
TEMPORAL = frozenset((415, 416, 562, 590, 761, 763, 825))
SPATIAL = frozenset((120, 121, 122, 124, 125, 126, 127, 129, 131, 170, 193, 242, 464, 785, 786, 787, 788, 805, 806))
NUMBERS = frozenset((128, 190, 191, 192, 194, 195, 196, 197, 680, 681, 682, 839, 1335))
# That a result is not checked (CWE-252) shows itself by any error, and none shows it.
NULLS = frozenset((476, 690))
# What such a finding claims of the access.
READS, WRITES = frozenset((125, 126, 127)), frozenset((123, 124, 787))
SIZES = frozenset((400, 770, 789))
# Memory that grows with each of many allocations, or far beyond its input.
GROWTH = SIZES | {405, 409, 1325}
ENDLESS = frozenset((400, 405, 407, 606, 834, 835, 1322, 1333))
RACES = frozenset((362, 364, 366, 367, 479))
# Of memory, but about what leads to a wrong access: an error at the same line may have another cause.
CAUSES = MEMORY - SPATIAL - TEMPORAL - {118, 119, 123, 823}
# What is passed as the size of an allocation may be negative before its conversion, as sanitizer_log.py says.
NEGATIVE_SIZE = "allocation-size-too-big of -"
# The classes of weaknesses that an error shows, by a part of its first line; the first match counts.
SHOWN: tuple[tuple[str, frozenset[int]], ...] = (
    ("memory-growth", GROWTH),
    ("stack-overflow", frozenset((674, 400, 770, 789, 835))),
    (NEGATIVE_SIZE, SIZES | NUMBERS | {131}),
    ("allocation-size-too-big", SIZES),
    # These functions check the product or the sum themselves: the number that wraps is not used.
    ("calloc-overflow", SIZES),
    ("reallocarray-overflow", SIZES),
    ("pvalloc-overflow", SIZES),
    ("out-of-memory", SIZES),
    ("double-free", MEMORY - SPATIAL | RACES),
    ("free on address", MEMORY),
    ("bad-free", MEMORY),
    ("alloc-dealloc-mismatch", frozenset((762, 763))),
    ("new-delete-type-mismatch", frozenset((762, 763))),
    ("param-overlap", frozenset((118, 119))),
    ("negative-size-param", MEMORY | NUMBERS),
    ("use-after", MEMORY - SPATIAL | RACES),
    ("buffer-overflow", MEMORY - TEMPORAL | NUMBERS | RACES),
    ("buffer-underflow", MEMORY - TEMPORAL | NUMBERS),
    ("container-overflow", MEMORY - TEMPORAL | NUMBERS),
    ("object-overflow", MEMORY - TEMPORAL | NUMBERS),
    ("SEGV", MEMORY | NUMBERS | NULLS | RACES),
    ("BUS", MEMORY | NUMBERS | RACES),
    ("FPE", frozenset((369,)) | NUMBERS),
    ("division by zero", frozenset((369,))),
    ("out of bounds", MEMORY - TEMPORAL | NUMBERS),
    # A function may not look at a null pointer, such as memcpy of no bytes; if it does, SEGV follows. So it is with
    # pointers that are computed from null and not used.
    ("null pointer passed", frozenset()),
    ("null pointer returned", frozenset()),
    ("store to null pointer", NULLS),
    ("to null pointer", frozenset()),
    ("produced null pointer", frozenset()),
    ("null pointer", NULLS),
    ("integer overflow", NUMBERS),
    ("cannot be represented", NUMBERS),
    ("shift exponent", NUMBERS),
    ("left shift", NUMBERS),
    ("outside the range", NUMBERS | {704}),
    ("pointer index expression", frozenset((190, 191, 468, 823))),
    ("unsigned offset", frozenset((190, 191, 468, 823))),
    ("insufficient space", MEMORY),
    ("variable length array", SIZES | NUMBERS | MEMORY),
    ("not a valid value", frozenset((457, 908, 909))),
    # A loop without an end that allocates may be stopped by its time first.
    ("hang", ENDLESS | {770, 1325}),
)
# The weakness of an error that shows several, by a part of its name: for reads and other errors, and for writes.
WEAKNESSES: tuple[tuple[str, int, int], ...] = (
    ("memory-growth", 770, 770),
    ("stack-overflow", 674, 674),
    ("allocation-size-too-big", 789, 789),
    ("calloc-overflow", 789, 789),
    ("reallocarray-overflow", 789, 789),
    ("pvalloc-overflow", 789, 789),
    ("out-of-memory", 789, 789),
    ("double-free", 415, 415),
    ("free on address", 590, 590),
    ("bad-free", 590, 590),
    ("alloc-dealloc-mismatch", 762, 762),
    ("new-delete-type-mismatch", 762, 762),
    ("param-overlap", 119, 119),
    ("negative-size-param", 195, 195),
    ("use-after", 416, 416),
    ("buffer-overflow", 125, 787),
    ("buffer-underflow", 127, 124),
    ("container-overflow", 125, 787),
    ("object-overflow", 125, 787),
    ("SEGV", 125, 787),
    ("BUS", 125, 787),
    ("FPE", 369, 369),
    ("division by zero", 369, 369),
    ("out of bounds", 129, 129),
    ("null pointer", 476, 476),
    ("integer overflow", 190, 190),
    ("cannot be represented", 190, 190),
    ("shift exponent", 1335, 1335),
    ("left shift", 1335, 1335),
    ("outside the range", 681, 681),
    ("pointer index expression", 823, 823),
    ("unsigned offset", 823, 823),
    ("insufficient space", 119, 119),
    ("variable length array", 789, 789),
    ("hang", 835, 835),
)
# The errors that are about numbers themselves.
OF_NUMBERS = ("integer overflow", "cannot be represented", "shift exponent", "left shift", "outside the range")
NULL_DEREFERENCE = 476
# No error shows them for certain: chance decides the value that is read (MemorySanitizer needs libraries of its own),
# and the order of threads, processes and requests.
BY_CHANCE = frozenset((457, 908, 909, 362, 366, 367))
PROVABLE = frozenset[int]().union(*(classes for _, classes in SHOWN)) - BY_CHANCE


def fits(error: str, cwe: int) -> bool:
    """Return whether an error, its name and what it says of the access, shows a weakness."""
    is_other_access = (cwe in WRITES and " READ" in error) or (cwe in READS and " WRITE" in error)
    return cwe in _shown(error) and not is_other_access


def is_named_by(error: str, cwe: int) -> bool:
    """Return whether an error that shows a weakness is that weakness, and not only what may follow from it."""
    return not is_effect(error, cwe) and cwe not in CAUSES


def is_effect(error: str, cwe: int) -> bool:
    """Return whether an error shows a weakness by what follows from it only, and may as well have another cause."""
    return cwe in RACES or (cwe in NUMBERS and not any(name in error for name in OF_NUMBERS))


def weakness_of(error: str, access: str, *, is_null: bool = False) -> int:
    """Return the weakness that an error with this access shows best, 0 for an error of a kind that is not listed."""
    if is_null and "SEGV" in error:
        return NULL_DEREFERENCE
    if not _shown(error):
        return 0
    found = next(((read, write) for name, read, write in WEAKNESSES if name in error), (0, 0))
    return found[access.startswith("WRITE")]


def is_null(cwe: int) -> bool:
    """Return whether a weakness is that of a null pointer, which an allocation may have returned."""
    return cwe in NULLS


def is_growth(cwe: int) -> bool:
    """Return whether a weakness is shown by memory that grows without a limit."""
    return cwe in GROWTH


def is_provable(cwe: int) -> bool:
    """Return whether an error of a sanitizer can show a weakness."""
    return cwe in PROVABLE


def _shown(error: str) -> frozenset[int]:
    return next((classes for name, classes in SHOWN if name in error), frozenset[int]())
