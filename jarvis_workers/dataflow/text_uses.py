"""Where the text of a function mentions a name next, and with what around it."""

import re
from collections.abc import Iterator
from typing import NamedTuple

TRIES = 24
NEAR = 64
FOLLOWS = re.compile(rb"\s*(=(?!=)|\[|->|\)|;|,|.)?")
WORD = frozenset(bytes((one,)) for one in b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
MEMBER_OR_WORD = WORD | {b".", b">"}


class NextUse(NamedTuple):
    """The next mention of a name after `since`, with the tokens before and after it."""

    since: int
    start: int
    before: bytes
    behind: bytes


def uses(shape: re.Pattern[bytes], body: bytes) -> Iterator[NextUse]:
    """Yield the next mention of each name that a pattern matches."""
    for name, since in first(shape, body):
        start = next_use(body, name, since)
        if start >= 0:
            behind = FOLLOWS.match(body, start + len(name))
            yield NextUse(since, start, before(body, start)[-1:], (behind and behind[1]) or b"")


def first(shape: re.Pattern[bytes], body: bytes) -> Iterator[tuple[bytes, int]]:
    """Yield the names that a pattern matches, each with the end of its match."""
    for count, match in enumerate(shape.finditer(body)):
        if count == TRIES:
            return
        yield match[match.lastindex or 0], match.end()


def next_use(body: bytes, name: bytes, start: int) -> int:
    """Return the offset of the next use of a name that is not a member, -1 if there is none."""
    at = body.find(name, start)
    while at >= 0:
        end = at + len(name)
        if body[at - 1 : at] not in MEMBER_OR_WORD and body[end : end + 1] not in WORD:
            return at
        at = body.find(name, end)
    return -1


def before(body: bytes, start: int) -> bytes:
    """Return the text in front of an offset."""
    return body[max(0, start - NEAR) : start].rstrip()
