"""A quick test for files that read input, on unmasked text."""

from functools import lru_cache

ENDINGS = (
    *(
        b"read",
        b"recv",
        b"recvfrom",
        b"getc",
        b"getchar",
        b"fgets",
        b"scanf",
        b"accept",
        b"ReadFile",
        b"ntohs",
        b"ntohl",
    ),
    *(b"toh", b"to_cpu", b"strtol", b"strtoul", b"strtoll", b"strtoull", b"atoi", b"atol"),
)
CALLS = tuple(word + behind for word in ENDINGS for behind in (b"(", b" ("))


@lru_cache(maxsize=2)
def may_read(content: bytes) -> bool:
    """Return whether a file may call a function that reads, or converts what was read."""
    return any(call in content for call in CALLS)


def reads_nothing(name: bytes, content: bytes, end: int) -> bool:
    """Dismiss a call in a file that reads nothing."""
    return not may_read(content)
