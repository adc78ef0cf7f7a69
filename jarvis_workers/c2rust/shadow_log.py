"""Parse the log of the shadow gate: calls compared, differences, and functions that cannot be compared.

The log is written by processes that run untrusted code: lines that are not valid events are skipped, and numbers and
sizes are bounded.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

MOST_LINES = 200_000
MOST_LINE_BYTES = 4096
MOST_DIFFERENCES = 512
MOST_CALLS = 10**12
REGION = re.compile(
    r"(?P<kind>result) (?P<register>[rpv][0-3])|(?P<blocks>blocks|ended)|call (?P<callee>[\w.$]{1,256} [0-5])"
    r"|(?P<place>heap|freed|size|stack|global) (?P<start>argument \d|result|block \d{1,20}|[\w.$?]{1,256})"
    r"\+(?P<path>\d{1,20}(>\d{1,20}){0,16})",
    re.ASCII,
)
VARIATION = re.compile(r"[\w +=>.-]{0,96}", re.ASCII)
HEX = re.compile(r"([0-9a-f]{2}){1,8}", re.ASCII)
ARGUMENTS = re.compile(r"[0-9a-f]{1,16}(,[0-9a-f]{1,16}){0,7}|-", re.ASCII)
ADDRESS_BYTES, ADDRESS_BITS = 8, 47
NUMBER = re.compile(r"\d{1,18}", re.ASCII)


class Compared(NamedTuple):
    """The number of compared calls of a function in all processes.

    In `indeterminate` calls C left some bytes undefined.
    """

    name: str
    calls: int
    indeterminate: int


class Unshadowed(NamedTuple):
    """A function whose calls are not compared, or no longer compared, and the reason."""

    name: str
    reason: str


class MemoryRegion(NamedTuple):
    """The location of a difference.

    | kind | meaning | start |
    |---|---|---|
    | result | a register of the result | "r0", "v1" |
    | global, stack, heap | bytes in memory | see below |
    | freed | a block is freed only in C or only in Rust, as the values show | |
    | size | the size of a block differs | |
    | blocks | the numbers of new blocks differ | "" |
    | call | a function is called with a different argument | its name, and the number of the general register |
    | ended | C returns, but Rust ends the process: signal or exit code, 0 for longjmp | "" |

    Memory is located by following pointers from `start`: "argument N" (the memory that general register N points to),
    "result", the name of a global, "block SIZE" or "frame". `offsets` are in bytes: the first is relative to `start`,
    each further one to the target of the pointer at the previous offset.
    """

    kind: str
    start: str
    offsets: tuple[int, ...]


class MemoryDifference(NamedTuple):
    """A call after which C and Rust differ: up to 8 bytes of each, and the general registers of the arguments.

    `variation` describes the change before the call, "" for an unchanged call of the program.
    """

    name: str
    call: int
    region: MemoryRegion
    c: bytes
    rust: bytes
    arguments: tuple[int, ...]
    variation: str = ""


class ShadowLog(NamedTuple):
    """The events of a log, with at most the first MOST_DIFFERENCES differences of each function."""

    compared: tuple[Compared, ...]
    differences: tuple[MemoryDifference, ...]
    unshadowed: tuple[Unshadowed, ...]


def read_shadow_log(log: bytes, names: Collection[str]) -> ShadowLog:
    """Return the events of the functions `names`, in the order of the log; each unshadowed function once."""
    counts: dict[tuple[str, str, str], tuple[int, int]] = {}
    differences: list[MemoryDifference] = []
    unshadowed: dict[str, str] = {}
    for event, program, process, name, *facts in _rows(log):
        if name not in names:
            continue
        if event == "compared" and (read := _counts(facts)):
            counts[program, process, name] = max(read, counts.get((program, process, name), (0, 0)))
        elif event == "difference" and (difference := _difference(name, facts)):
            differences.append(difference)
        elif event == "unshadowed" and facts:
            unshadowed.setdefault(name, facts[0][:200])
    return ShadowLog(
        tuple(_totals(counts)),
        tuple(_first_of_each(differences)),
        tuple(Unshadowed(name, reason) for name, reason in unshadowed.items()),
    )


def confirmed_in(checked: bytes, log: str, name: str) -> str:
    """Return a log without the differences of a function in varied calls, except for those that `checked` contains too.

    `checked` is the log of programs that stop at undefined behaviour, with their data in another order: a difference
    that depends on what happens to follow an array in memory is another one there.
    """
    recurring = {_varied_values(one) for one in read_shadow_log(checked, [name]).differences}
    lines = log.splitlines(keepends=True)
    found = [(line, read_shadow_log(line.encode(), [name]).differences) for line in lines]
    return "".join(
        line for line, all_ in found if all(not one.variation or _varied_values(one) in recurring for one in all_)
    )


def _varied_values(one: MemoryDifference) -> tuple[int, str, bytes, bytes]:
    """Return what is the same in two builds: not addresses, or the places of variables."""
    return one.call, one.variation, _without_address(one.c), _without_address(one.rust)


def _without_address(value: bytes) -> bytes:
    is_address = len(value) == ADDRESS_BYTES and int.from_bytes(value, "little") >> ADDRESS_BITS - 1 == 1
    return b"" if is_address else value


def _rows(log: bytes) -> Iterator[list[str]]:
    for line in log.split(b"\n", MOST_LINES)[:MOST_LINES]:
        row = line[:MOST_LINE_BYTES].decode(errors="replace").split("\t")
        if len(row) > 4:
            yield row


def _counts(facts: list[str]) -> tuple[int, int] | None:
    if len(facts) != 2 or not all(NUMBER.fullmatch(fact) for fact in facts):
        return None
    calls, indeterminate = (min(int(fact), MOST_CALLS) for fact in facts)
    return calls, min(indeterminate, calls)


def _difference(name: str, facts: list[str]) -> MemoryDifference | None:
    if len(facts) not in (5, 6) or not NUMBER.fullmatch(facts[0]) or not ARGUMENTS.fullmatch(facts[4]):
        return None
    region, both, variation = REGION.fullmatch(facts[1]), facts[2:4], "".join(facts[5:])
    if not region or not all(HEX.fullmatch(text) for text in both) or len(both[0]) != len(both[1]):
        return None
    if not VARIATION.fullmatch(variation):
        return None
    arguments = tuple(int(word, 16) for word in facts[4].split(",") if word != "-")
    c, rust = (bytes.fromhex(text) for text in both)
    return MemoryDifference(name, int(facts[0]), _region(region), c, rust, arguments, variation)


def _region(match: re.Match[str]) -> MemoryRegion:
    if match["kind"]:
        return MemoryRegion("result", match["register"], ())
    if match["callee"]:
        return MemoryRegion("call", match["callee"], ())
    if match["blocks"]:
        return MemoryRegion(match["blocks"], "", ())
    return MemoryRegion(match["place"], match["start"], tuple(int(offset) for offset in match["path"].split(">")))


def _totals(counts: dict[tuple[str, str, str], tuple[int, int]]) -> Iterator[Compared]:
    totals: dict[str, Compared] = {}
    for (_, _, name), (calls, indeterminate) in counts.items():
        before = totals.get(name, Compared(name, 0, 0))
        totals[name] = Compared(name, before.calls + calls, before.indeterminate + indeterminate)
    yield from totals.values()


def _first_of_each(differences: Iterable[MemoryDifference]) -> Iterator[MemoryDifference]:
    seen: dict[str, int] = {}
    for difference in differences:
        seen[difference.name] = seen.get(difference.name, 0) + 1
        if seen[difference.name] <= MOST_DIFFERENCES:
            yield difference
