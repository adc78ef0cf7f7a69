"""Functions that inspect strings or convert them to numbers."""

from jarvis_workers.dataflow.library.model import Handlers, LibraryCall, text_length, use_text
from jarvis_workers.dataflow.name_heuristics import listed
from jarvis_workers.dataflow.ranges import is_exact
from jarvis_workers.dataflow.values import ANY, Value

NOT_TERMINATED = 0.48
UNSIGNED = ("strtoul", "strtoull", "wcstoul", "strtoumax")


def _strlen(call: LibraryCall) -> Value:
    """Model strlen; the length of an unknown string has no lower bound, since a bound of 0 would look informative.

    The string in memory of a known size ends in it, if nothing else is known.
    """
    if call.name == "strnlen":
        call.use(0)
    else:
        use_text(call, 0)
    low, high = text_length(call.path, call.value(0))
    target = call.object(0)
    return Value((low if low == high else low or None, high), checked=target is not None and is_exact(target.size))


def _strchr(call: LibraryCall) -> Value:
    if call.name == "memchr":
        call.use(0)
    else:
        use_text(call, 0)
    value = call.value(0)
    if value.target in call.path.objects:
        return Value(target=value.target, at=(value.at[0], None))
    return ANY


def _reads(call: LibraryCall) -> Value:
    call.use(0)
    call.use(1)
    return ANY


def _ends_somewhere(call: LibraryCall) -> None:
    """Report a number that is read from text whose length is given: it need not end behind the text."""
    machine, value = call.path.machine, call.value(0)
    buffer = machine.counted.get(value.target or "")
    if buffer is not None and buffer.compared <= call.line and not call.path.frame.depth:
        text = f"may read past the end of its text, which comes with its length {buffer.length}"
        call.report("flow_buffer_overread", text, sure=NOT_TERMINATED)


def _to_number(call: LibraryCall) -> Value:
    use_text(call, 0)
    _ends_somewhere(call)
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
