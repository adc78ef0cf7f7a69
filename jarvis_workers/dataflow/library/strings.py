"""Functions that inspect strings or convert them to numbers."""

from jarvis_workers.dataflow.ir.expr import STRINGS, Expression
from jarvis_workers.dataflow.library.model import Handlers, LibraryCall, change, text_length, use_text
from jarvis_workers.dataflow.queries.name_heuristics import listed
from jarvis_workers.dataflow.state.ranges import is_exact
from jarvis_workers.dataflow.state.values import ANY, Value

UNSIGNED = ("strtoul", "strtoull", "wcstoul", "strtoumax")


def _strlen(call: LibraryCall) -> Value:
    """Model strlen; the length of an unknown string has no lower bound, since a bound of 0 would look informative.

    The string in memory of a known size ends in it, if nothing else is known.
    """
    if call.name == "strnlen":
        _looks_for_end(call)
    else:
        use_text(call, 0)
    low, high = text_length(call.path, call.value(0))
    target = call.object(0)
    if target is not None and target.length[0] == 0 and target.length[1] is not None and call.value(0).at == (0, 0):
        # What the code has written there may be empty.
        return Value((0, high), checked=is_exact(target.size))
    return Value(
        (low if low == high or (low or 0) > 1 else None, high), checked=target is not None and is_exact(target.size)
    )


def _looks_for_end(call: LibraryCall) -> None:
    """Check the use of memory in which the function looks for a byte: code may test whether a string ends there."""
    call.use(0)
    change(call.path, call.value(0))


def _strchr(call: LibraryCall) -> Value:
    if call.name == "memchr":
        _looks_for_end(call)
    else:
        use_text(call, 0)
    value = call.value(0)
    if value.target in call.path.objects:
        return Value(target=value.target, at=(value.at[0], None))
    return ANY


def _reads(call: LibraryCall) -> Value:
    call.use(0)
    call.use(1)
    if call.name == "memcmp":
        for place in (0, 1):
            if _is_whole_text(call, call.node.args[1 - place : 2 - place]):
                change(call.path, call.value(place))
    return ANY


def _is_whole_text(call: LibraryCall, other: tuple[Expression, ...]) -> bool:
    """Return whether memcmp compares memory with a literal and the NUL behind it."""
    low = call.value(2).range[0]
    return low is not None and any(isinstance(one, STRINGS) and one.length < low for one in other)


def _to_number(call: LibraryCall) -> Value:
    use_text(call, 0)
    target = call.object(0)
    taint = (target.taint if target else None) or call.value(0).taint
    low = 0 if call.name in UNSIGNED else None
    return Value((low, None), taint=taint) if taint else ANY


READS = """
    strcmp strncmp strcasecmp memcmp wcscmp wcsncmp strncasecmp puts fputs fputws _putws atof fwrite
"""
TO_NUMBER = "atoi atol atoll strtol strtoul strtoll strtoull _wtoi wcstol wcstoul strtoumax strtoimax"
HANDLERS: Handlers = (
    (listed("strlen wcslen strnlen _mbslen"), _strlen),
    (listed("strchr strrchr strstr wcschr wcsrchr wcsstr memchr strpbrk strcasestr"), _strchr),
    (listed(READS), _reads),
    (listed(TO_NUMBER), _to_number),
)
