"""Read the log of AddressSanitizer and UndefinedBehaviorSanitizer, whose stacks are addresses in modules.

The addresses are resolved outside the process that wrote the log, from the program that was built.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from jarvis_workers.sec.proof.proof import (
    HANG,
    MEMORY_GROWTH,
    STOPPED_ANYWHERE,
    ModuleAddress,
    SanitizerError,
    StackFrame,
)

ERROR = re.compile(r"^==\d+==ERROR: (\w+Sanitizer): (.*)")
NAME = re.compile(r"(attempting double-free|attempting free on address|[A-Za-z-]+)")
# Errors that begin with a sentence, and how AddressSanitizer names them in its summary.
SENTENCES = (
    ("requested allocation size", "allocation-size-too-big"),
    ("calloc parameters overflow", "calloc-overflow"),
    ("reallocarray parameters overflow", "reallocarray-overflow"),
    ("pvalloc parameters overflow", "pvalloc-overflow"),
    ("allocator is out of memory", "out-of-memory"),
    ("out of memory", "out-of-memory"),
    ("specified RSS limit exceeded", "rss-limit-exceeded"),
    ("invalid allocation alignment", "invalid-allocation-alignment"),
    ("invalid aligned", "invalid-aligned-alloc-alignment"),
    ("invalid alignment requested in posix_memalign", "invalid-posix-memalign-alignment"),
    ("attempting to call malloc_usable_size", "bad-malloc_usable_size"),
    ("attempting to call __sanitizer_get_allocated_size", "bad-__sanitizer_get_allocated_size"),
    ("bad parameters to", "bad-__sanitizer_annotate_contiguous_container"),
)
# A size of 64 bits that was a number of at least this before its conversion.
ALLOCATION, LEAST = re.compile(r"requested allocation size (0x[0-9a-f]+)"), -(1 << 32)
ACCESS = re.compile(r"^(READ|WRITE) of size \d+|signal is caused by a (READ|WRITE) memory access")
FRAME = re.compile(r"^\s+#\d+ 0x[0-9a-f]+\s+\((.+)\+(0x[0-9a-f]+)\)")
REGION = re.compile(r"\d+-byte region \[(0x[0-9a-f]+),(0x[0-9a-f]+)\)")
GLOBAL = re.compile(r"global variable '[^']*' defined in '([^']*)'")
# An overflow within its object: what is said of the memory (its shadow) was changed.
INSIDE = re.compile(
    r"is located (?P<at>\d+) bytes inside of (?:(?P<heap>\d+)-byte region|global variable .* of size (?P<data>\d+))"
    r"|is (?P<stack>inside) this variable"
)
ACCESS_SIZE = re.compile(r"^(?:READ|WRITE) of size (\d+)", re.MULTILINE)
INCONSISTENT = "inconsistent-report"
UNKNOWN_ADDRESS = re.compile(r"on unknown address (0x[0-9a-f]+)")
OVERFLOW = re.compile(r"^==\d+==ERROR: \w+Sanitizer: stack-overflow\b")
RUNTIME = re.compile(r"^(?:\S+?:\d+:\d+|<unknown>): runtime error: (.*)")
# The lines that begin a stack, and the field of SanitizerError that gets it.
STACKS = (
    (re.compile(r"^(?:previously )?allocated by thread"), "allocated"),
    (re.compile(r"^freed by thread"), "freed"),
    (re.compile(r"is located in stack of thread .* in frame"), "frame"),
)
# Where bench/proof_support.c makes a program write that hangs, or that holds too much memory.
ADDRESSES = {0x7A11: HANG, 0x7A22: MEMORY_GROWTH}
# Most of a recursion is not shown: AddressSanitizer writes up to 255 frames.
FRAMES_MAX, RECURSIVE_FRAMES_MAX = 32, 400
# A stack of so many frames is cut; proof_support.c writes so many from its beginning.
CUT, OUTERMOST = 200, 64
ERRORS_MAX = 20


# Returns the function at an address, after those that were inlined into it.
Resolve = Callable[[ModuleAddress], Sequence[StackFrame]]


def addresses_of(log: str) -> list[ModuleAddress]:
    """Return the addresses in the stacks of a log."""
    return list(dict.fromkeys(found for line in log.split("\n") if (found := _address(line))))


def with_stack(log: str, stack: str) -> str:
    """Return a log with the stack that proof_support.c followed of a stack overflow.

    AddressSanitizer has none if the stack ends while it takes that of an allocation, and never its beginning.
    """
    lines, followed = log.split("\n"), [line for line in stack.split("\n") if FRAME.match(line)]
    at = next((number for number, line in enumerate(lines, 1) if OVERFLOW.match(line)), None)
    if at is None:
        return log
    end = next((number for number in range(at, len(lines)) if not lines[number].strip()), len(lines))
    frames = sum(bool(FRAME.match(line)) for line in lines[at:end])
    begins = followed[-OUTERMOST:] if frames >= CUT else []
    return "\n".join([*lines[:end], *(begins if frames else followed), *lines[end:]])


def read_log(log: str, resolve: Resolve) -> tuple[SanitizerError, ...]:
    """Return the errors in a log, in order."""
    return tuple(_error(lines, resolve) for lines, _ in zip(_reports(log.split("\n")), range(ERRORS_MAX), strict=False))


def _reports(lines: Iterable[str]) -> Iterator[list[str]]:
    """Yield the lines of each report."""
    report: list[str] = []
    for line in lines:
        if ERROR.match(line) or RUNTIME.match(line):
            if report:
                yield report
            report = [line]
        elif report:
            report.append(line)
    if report:
        yield report


def _error(lines: Sequence[str], resolve: Resolve) -> SanitizerError:
    stacks: dict[str, list[StackFrame]] = {"stack": []}
    current: str | None = "stack"
    access, text = "", "\n".join(lines)
    site: ModuleAddress | None = None
    address = UNKNOWN_ADDRESS.search(lines[0])
    place = int(address[1], 16) if address else None
    stopped = ADDRESSES.get(place or 0, "")
    name = stopped or (INCONSISTENT if _is_inconsistent(lines[0], text) else _name(lines[0]))
    most = RECURSIVE_FRAMES_MAX if name in STOPPED_ANYWHERE else FRAMES_MAX
    for line in lines[1:]:
        found = _address(line)
        if found and current:
            stack, frames = stacks.setdefault(current, []), resolve(found)
            if site is None and current == "stack" and any(frame.owner != "system" for frame in frames):
                site = found
            stack += frames[: most - len(stack)]
        elif started := next((name for shape, name in STACKS if shape.search(line)), None):
            current = started if started not in stacks else None
        elif match := ACCESS.search(line):
            access = match[0] if match[1] else match[2]
        elif not line.strip() and stacks["stack"]:
            current = None
    region, variable = REGION.search(text), GLOBAL.search(text)
    return SanitizerError(
        name,
        "" if stopped else access or _allocation(lines[0]),
        **{name: tuple(frames) for name, frames in stacks.items()},
        variable=variable[1].rsplit(":", 2)[0] if variable else "",
        region=(int(region[1], 16), int(region[2], 16)) if region else None,
        address=place,
        site=site,
    )


def _is_inconsistent(first: str, text: str) -> bool:
    """Return whether a report says that an access overflows an object which is as large as the access needs."""
    inside, size = INSIDE.search(text), ACCESS_SIZE.search(text)
    if not re.search(r"buffer-(?:over|under)flow", first) or not inside or not size:
        return False
    return bool(inside["stack"]) or int(inside["at"]) + int(size[1]) <= int(inside["heap"] or inside["data"])


def _name(line: str) -> str:
    if match := RUNTIME.match(line):
        return re.sub(r"0x[0-9a-f]+", "0x…", match[1])
    error = ERROR.match(line)
    message = error[2] if error else ""
    sentence = next((name for start, name in SENTENCES if message.startswith(start)), "")
    name = NAME.match(message)
    return sentence or (name[1].removeprefix("attempting ") if name else "error")


def _allocation(line: str) -> str:
    """Return how much memory was requested, "" if the error is none of its size."""
    match = ALLOCATION.search(line)
    if match is None:
        return ""
    size = int(match[1], 16)
    number = size - (1 << 64)
    return f"of {number} as a size" if number >= LEAST else f"of {size} bytes"


def _address(line: str) -> ModuleAddress | None:
    match = FRAME.match(line)
    return ModuleAddress(match[1], int(match[2], 16)) if match else None
