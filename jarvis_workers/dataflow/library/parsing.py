"""Functions that return numbers, and functions without relevant effects."""

import re
from math import isqrt

from jarvis_workers.dataflow.ir.expr import ArrowExpr, DerefExpr, IndexExpr, MemberExpr
from jarvis_workers.dataflow.library.model import Handler, Handlers, LibraryCall
from jarvis_workers.dataflow.memory.outside import SHORT_MAX, converted_number
from jarvis_workers.dataflow.queries.ast_queries import without_casts
from jarvis_workers.dataflow.queries.name_heuristics import CONVERTER, NUMBER_READER, listed
from jarvis_workers.dataflow.state.values import ANY, ARBITRARY, Value, number

SHORT_BITS = 16
SWAPS = """
    ntohs ntohl ntohll htons htonl be16toh be32toh be64toh le16toh le32toh le64toh htobe16 htobe32 htobe64 htole16
    htole32 htole64 bswap_16 bswap_32 bswap_64 __builtin_bswap16 __builtin_bswap32 __builtin_bswap64
"""
CLASSES = """
    isspace isalpha isdigit isalnum isupper islower isxdigit isprint isgraph ispunct isblank iswspace iswalpha iswdigit
"""
# Memory in the byte order of an external format was filled from outside.
MEMORY_READS = (ArrowExpr, DerefExpr, IndexExpr, MemberExpr)
# Generators named by the size of their numbers, such as get_random_u32 of Linux.
SIZED = re.compile(r"(?:get_|p)?rand(?:om)?_?[iu]?\d+")
NEVER_NEGATIVE = ("rand", "random", "lrand48", "rand_r", "arc4random")


def _random(call: LibraryCall) -> Value:
    low = 0 if call.name in NEVER_NEGATIVE else None
    step = call.path.note(call.line, f"{call.name}() {ARBITRARY}")
    return Value((low, None), taint=call.path.outside(step))


def generated(name: str) -> Handler | None:
    """Return the handler of a function that is named like a generator of random numbers."""
    return _random if SIZED.fullmatch(name) else None


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
    part = without_casts(call.node.args[0]) if call.node.args else None
    if value.taint is None and isinstance(part, MEMORY_READS):
        value = Value(taint=converted_number(call.path, part))
    if value.taint is None:
        return ANY
    reach = (0, SHORT_MAX if "16" in call.name or call.name.endswith("s") else None)
    return Value(reach, null=value.null, taint=value.taint, checked=value.checked)


def number_reader(name: str) -> Handler | None:
    """Return the model of a function without a body whose name says that it converts or reads a number of some bits."""
    if CONVERTER.fullmatch(name.lower()):
        return _swapped
    return _read_number if NUMBER_READER.fullmatch(name.lower()) else None


def _read_number(call: LibraryCall) -> Value:
    bits = NUMBER_READER.fullmatch(call.name.lower())
    short = bits is not None and int(bits["bits"]) <= SHORT_BITS
    high = (1 << int(bits["bits"])) - 1 if bits is not None and short else None
    return Value((0, high), taint=converted_number(call.path, call.node))


def _classify(call: LibraryCall) -> Value:
    """Model isspace and the like: the end of a string is of no class but the control characters."""
    return number(0) if call.value(0).range == (0, 0) else ANY


def _nothing(call: LibraryCall) -> Value:
    return ANY


HANDLERS: Handlers = (
    (["rand", "random", "lrand48", "rand_r", "arc4random"], _random),
    (listed(SWAPS), _swapped),
    (listed(CLASSES), _classify),
    (["sqrt", "sqrtl", "sqrtf"], _sqrt),
    (["abs", "labs", "llabs"], _abs),
    (["va_start", "va_end", "va_copy", "memory_order", "sizeof", "srand", "time"], _nothing),
)
