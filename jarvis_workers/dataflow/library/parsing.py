"""Functions that return numbers, and functions without relevant effects."""

from math import isqrt

from jarvis_workers.dataflow.library.model import Handlers, LibraryCall
from jarvis_workers.dataflow.name_heuristics import listed
from jarvis_workers.dataflow.values import ANY, Value, number

SHORT_MAX = 65_535
SWAPS = """
    ntohs ntohl ntohll htons htonl be16toh be32toh be64toh le16toh le32toh le64toh htobe16 htobe32 htobe64 htole16
    htole32 htole64 bswap_16 bswap_32 bswap_64 __builtin_bswap16 __builtin_bswap32 __builtin_bswap64
"""
NEVER_NEGATIVE = ("rand", "random", "lrand48", "rand_r", "arc4random")


def _random(call: LibraryCall) -> Value:
    low = 0 if call.name in NEVER_NEGATIVE else None
    return Value((low, None), taint=call.path.note(call.line, f"{call.name}() returns an arbitrary number"))


def _sqrt(call: LibraryCall) -> Value:
    low, high = call.value(0).range
    if low is None or high is None or low < 0:
        return Value(checked=True)
    return number(isqrt(low), isqrt(high))


def _abs(call: LibraryCall) -> Value:
    value = call.value(0)
    return Value((0, None), taint=value.taint, checked=value.checked)


def _swapped(call: LibraryCall) -> Value:
    """Model a change of byte order: what it returns is as trustworthy as its argument."""
    value = call.value(0)
    if value.taint is None:
        return ANY
    reach = (0, SHORT_MAX if "16" in call.name or call.name.endswith("s") else None)
    return Value(reach, null=value.null, taint=value.taint, checked=value.checked)


def _nothing(call: LibraryCall) -> Value:
    return ANY


HANDLERS: Handlers = (
    (["rand", "random", "lrand48", "rand_r", "arc4random", "RAND32", "RAND64"], _random),
    (listed(SWAPS), _swapped),
    (["sqrt", "sqrtl", "sqrtf"], _sqrt),
    (["abs", "labs", "llabs"], _abs),
    (["va_start", "va_end", "va_copy", "memory_order", "sizeof", "srand", "time"], _nothing),
)
