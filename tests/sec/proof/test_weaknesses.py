"""Which kinds of reports show which weaknesses: all kinds that the sanitizers have."""

import pytest

from jarvis_workers.sec.proof.proof import HANG, MEMORY_GROWTH
from jarvis_workers.sec.proof.sanitizer_log import read_log
from jarvis_workers.sec.proof.weaknesses import PROVABLE, SHOWN, fits, is_provable, weakness_of

ASAN = "==14==ERROR: AddressSanitizer: "
BIG, NEGATIVE = "0x100000000", "0xfffffffffffffff8"
TOO_BIG = ASAN + "requested allocation size {} (0x10 after adjustments for alignment, red zones etc.) exceeds maximum"
# The first line of each kind of report, from asan_errors.cpp: its name here, and weaknesses that it shows, and not.
OF_ASAN = {
    "stack-overflow on address 0x7ff (pc 0x1 bp 0x2 sp 0x3 T0)": ("stack-overflow", {674}, {121, 787}),
    "SEGV on unknown address 0x000 (pc 0x1 bp 0x2 sp 0x3 T0)": ("SEGV", {476, 125, 787, 416}, {674, 369, 457, 908}),
    "BUS on unknown address 0x000 (pc 0x1 bp 0x2 sp 0x3 T0)": ("BUS", {125, 787}, {674, 476}),
    "FPE on unknown address 0x000 (pc 0x1 bp 0x2 sp 0x3 T0)": ("FPE", {369, 190}, {125}),
    "attempting double-free on 0x602 in thread T0:": ("double-free", {415, 119}, {476, 190, 787}),
    "attempting free on address which was not malloc()-ed: 0x602": ("free on address", {590}, {476}),
    "new-delete-type-mismatch on 0x602 in thread T0:": ("new-delete-type-mismatch", {762}, {415, 787}),
    "alloc-dealloc-mismatch (malloc vs operator delete) on 0x6": ("alloc-dealloc-mismatch", {762}, {415, 787}),
    "calloc parameters overflow: count * size (2 * -1) cannot be represented": ("calloc-overflow", {789, 770}, {190}),
    "reallocarray parameters overflow: count * size (2 * -1)": ("reallocarray-overflow", {789}, {190}),
    "pvalloc parameters overflow: size 0x1 rounded up": ("pvalloc-overflow", {789}, {190}),
    "allocator is out of memory trying to allocate 0x10 bytes": ("out-of-memory", {789, 400}, {190, 122}),
    "strcpy-param-overlap: memory ranges [0x1,0x2) and [0x1,0x2) overlap": ("strcpy-param-overlap", {119}, {416}),
    "negative-size-param: (size=-1)": ("negative-size-param", {195, 787}, {476}),
    "heap-buffer-overflow on address 0x602 at pc 0x1": (
        "heap-buffer-overflow",
        {122, 190, 119},
        {476, 789, 416, 415, 825},
    ),
    "stack-buffer-overflow on address 0x602 at pc 0x1": ("stack-buffer-overflow", {121}, {674}),
    "dynamic-stack-buffer-overflow on address 0x6": ("dynamic-stack-buffer-overflow", {121}, {674}),
    "global-buffer-overflow on address 0x602 at pc 0x1": ("global-buffer-overflow", {125}, {476}),
    "container-overflow on address 0x602 at pc 0x1": ("container-overflow", {125}, {476}),
    "intra-object-overflow on address 0x602 at pc 0x1": ("intra-object-overflow", {125}, {476}),
    "stack-buffer-underflow on address 0x602 at pc 0x1": ("stack-buffer-underflow", {124}, {674}),
    "heap-use-after-free on address 0x602 at pc 0x1": ("heap-use-after-free", {416, 362, 119}, {190, 476, 125, 787}),
    "stack-use-after-return on address 0x602 at pc 0x1": ("stack-use-after-return", {562}, {190}),
    "stack-use-after-scope on address 0x602 at pc 0x1": ("stack-use-after-scope", {562}, {190}),
    "use-after-poison on address 0x602 at pc 0x1": ("use-after-poison", {416}, {190}),
    # Those that show no weakness of a finding.
    "ILL on unknown address 0x000": ("ILL", set(), PROVABLE),
    "ABRT on unknown address 0x000": ("ABRT", set(), PROVABLE),
    "TRAP on unknown address 0x000": ("TRAP", set(), PROVABLE),
    "unknown-crash on address 0x602 at pc 0x1": ("unknown-crash", set(), PROVABLE),
    "specified RSS limit exceeded, currently set to soft_rss_limit_mb=1": ("rss-limit-exceeded", set(), PROVABLE),
    "invalid allocation alignment: 3, alignment must be": ("invalid-allocation-alignment", set(), PROVABLE),
    "invalid aligned_alloc alignment: 3": ("invalid-aligned-alloc-alignment", set(), PROVABLE),
    "invalid alignment requested in posix_memalign: 3": ("invalid-posix-memalign-alignment", set(), PROVABLE),
    "attempting to call malloc_usable_size() for pointer": ("bad-malloc_usable_size", set(), PROVABLE),
    "attempting to call __sanitizer_get_allocated_size()": ("bad-__sanitizer_get_allocated_size", set(), PROVABLE),
    "bad parameters to __sanitizer_annotate_contiguous_container": (
        "bad-__sanitizer_annotate_contiguous_container",
        set(),
        PROVABLE,
    ),
    "odr-violation (0x1):": ("odr-violation", set(), PROVABLE),
    "invalid-pointer-pair: 0x1 0x2": ("invalid-pointer-pair", set(), PROVABLE),
    "initialization-order-fiasco on address 0x602 at pc 0x1": ("initialization-order-fiasco", set(), PROVABLE),
}
# The messages of ubsan_handlers.cpp.
OF_UBSAN: dict[str, tuple[set[int], frozenset[int] | set[int]]] = {
    "load of null pointer of type 'int'": ({476, 690}, {125}),
    "store to null pointer of type 'int'": ({476, 690}, {125}),
    "member access within null pointer of type 'struct s'": ({476}, {125}),
    "null pointer passed as argument 1, which is declared to never be null": (set(), PROVABLE),
    "null pointer returned from function declared to never return null": (set(), PROVABLE),
    "applying zero offset to null pointer": (set(), PROVABLE),
    "applying non-zero offset 8 to null pointer": (set(), PROVABLE),
    "applying non-zero offset to non-null pointer 0x1 produced null pointer": (set(), PROVABLE),
    "pointer index expression with base 0x1 overflowed to 0x2": ({190, 823}, {476, 125}),
    "addition of unsigned offset to 0x1 overflowed to 0x2": ({190, 823}, {476, 125}),
    "subtraction of unsigned offset from 0x1 overflowed to 0x2": ({190, 823}, {476}),
    "signed integer overflow: 2 + 2 cannot be represented in type 'int'": ({190, 191}, {125, 476}),
    "negation of -2 cannot be represented in type 'int'": ({190}, {125}),
    "division of -2 by -1 cannot be represented in type 'int'": ({190}, {369}),
    "division by zero": ({369}, {190}),
    "shift exponent 33 is too large for 32-bit type 'int'": ({1335}, {125}),
    "left shift of negative value -1": ({1335}, {125}),
    "index 5 out of bounds for type 'int [3]'": ({129, 787}, {476}),
    "variable length array bound evaluates to non-positive value -1": ({789, 190}, {476}),
    "1e+300 is outside the range of representable values of type 'int'": ({681, 704, 190}, {125}),
    "load of address 0x1 with insufficient space for an object of type 'int'": ({119}, {476}),
    "load of value 5, which is not a valid value for type 'bool'": ({457, 908, 909}, PROVABLE),
    "execution reached an unreachable program point": (set(), PROVABLE),
    "execution reached the end of a value-returning function without returning a value": (set(), PROVABLE),
    "passing zero to __builtin_clz(), which is not a valid argument": (set(), PROVABLE),
    "call to function f through pointer to incorrect function type 'int (*)()'": (set(), PROVABLE),
    "assumption is not satisfied": (set(), PROVABLE),
}


def first_line(report: str) -> str:
    """Return the first line of an error that was read from the first line of a report."""
    (error,) = read_log(report, lambda _: ())
    return error.lines()[0]


@pytest.mark.parametrize("message", OF_ASAN)
def test_each_report_of_addresssanitizer_shows_its_weaknesses_alone(message: str) -> None:
    name, shown, others = OF_ASAN[message]
    line = first_line(ASAN + message)

    assert line == name
    assert {cwe for cwe in (*shown, *others) if fits(line, cwe)} == set(shown)
    assert bool(weakness_of(name, "")) == bool(shown)


@pytest.mark.parametrize("message", OF_UBSAN)
def test_each_report_of_undefinedbehaviorsanitizer_shows_its_weaknesses_alone(message: str) -> None:
    shown, others = OF_UBSAN[message]
    line = first_line(f"a.c:3:9: runtime error: {message}")

    assert {cwe for cwe in (*shown, *others) if fits(line, cwe)} == set(shown)


def test_a_size_that_was_negative_shows_that_a_number_is_wrong_and_a_large_one_does_not() -> None:
    big, negative = first_line(TOO_BIG.format(BIG)), first_line(TOO_BIG.format(NEGATIVE))

    assert (big, negative) == (
        "allocation-size-too-big of 4294967296 bytes",
        "allocation-size-too-big of -8 as a size",
    )
    assert [fits(big, cwe) for cwe in (789, 770, 400, 190, 680, 195, 681, 131)] == [True] * 3 + [False] * 5
    assert all(fits(negative, cwe) for cwe in (789, 770, 400, 190, 680, 195, 681, 131))
    assert not any(fits(line, cwe) for line in (big, negative) for cwe in (122, 125, 476, 674))


def test_memory_that_grows_and_a_loop_that_allocates_show_that_there_is_no_limit() -> None:
    assert [fits(MEMORY_GROWTH, cwe) for cwe in (770, 789, 400, 1325, 409, 190, 787, 835)] == [True] * 5 + [False] * 3
    assert [fits(HANG, cwe) for cwe in (770, 1325, 400, 835, 789)] == [True] * 4 + [False]
    assert is_provable(1325)
    assert weakness_of(MEMORY_GROWTH, "") == 770


def test_each_row_is_that_of_a_report() -> None:
    lines = [first_line(ASAN + one) for one in OF_ASAN]
    lines += [first_line(f"a.c:3:9: runtime error: {one}") for one in OF_UBSAN]
    lines += [first_line(TOO_BIG.format(size)) for size in (BIG, NEGATIVE)]
    used = {next((row for row, _ in SHOWN if row in line), "") for line in lines}

    assert {row for row, _ in SHOWN} - used == {
        "bad-free",
        "hang",
        "memory-growth",
    }  # names of older proofs, and our own


@pytest.mark.parametrize(
    ("error", "cwe", "shows"),
    [
        ("heap-buffer-overflow READ of size 1", 787, False),
        ("heap-buffer-overflow READ of size 1", 125, True),
        ("heap-buffer-overflow WRITE of size 1", 125, False),
        ("SEGV WRITE", 787, True),
        ("heap-buffer-overflow READ of size 1", 122, True),
        ("SEGV READ", 252, False),
    ],
)
def test_a_claim_of_a_write_is_not_shown_by_a_read(error: str, cwe: int, shows: bool) -> None:
    assert fits(error, cwe) == shows
