"""Exits of a function at which a resource that it acquired is still held.

Blocks are parsed by their braces and jumps by their keywords, starting from the acquisition.  A release in a block that
ends with a jump does not count after the block; a release in any other block does, so that doubtful cases are not
reported.  The `else` of the block that acquires the resource is never reached while the resource is held.
"""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from jarvis_workers.source.lazy_regex import lazy

MARKS_MAX = 400
PLACES_MAX = 256
HEAD_MAX = 512
CONDITION_MAX = 1_024
# Each alternative begins with a literal byte, so that the search for the next one runs at full speed.
STRUCTURE = lazy(
    rb"\{|\}|#[ \t]*+(?:if|el|endif)|r(?<=\br)eturn\b|g(?<=\bg)oto\b|t(?<=\bt)hrow\b|c(?<=\bc)(?:ase|ontinue)\b"
    rb"|d(?<=\bd)efault\b|b(?<=\bb)reak\b"
)
PLACES = lazy(rb"[{};]")
EDGES = (b";", b"{", b"}")
PARENTHESES = lazy(rb"[()]")
ELSE = lazy(rb"\s*+else\b")
CONDITIONAL = lazy(rb"\b(?:if|else|for|while|switch)\b|#\s*+el")
IF = lazy(rb"\bif\b[^(]{0,32}+\(")
LOOPS = lazy(rb"\b(?:while|for|switch)\b")
LAMBDA = lazy(rb"\[[\w&=,\s*]{0,64}+\]\s*+(?:[({]|mutable\b|->|\Z)")
LABEL = lazy(rb"goto\s++(\w++)")
RELEASE, AGAIN = b"release", b"again"
JUMPS = (b"return", b"goto", b"throw")

Span = tuple[int, int]


class Way(NamedTuple):
    """An exit of the function, or another acquisition of the same resource.

    `kind` is "return", "goto" (to `label`), "throw" or "again"; "block" at the end of the block of the acquisition, and
    "end" at the end of the function.  `conditions` are the spans of the heads of the enclosing statements after the
    acquisition, such as `if (n < 0)`; the last one may be empty.
    """

    at: int
    kind: str
    conditions: tuple[Span, ...]
    statement: Span
    label: bytes = b""


class _Block:
    """A block opened after the acquisition: the heads of its statements, and the events in it."""

    def __init__(self, heads: tuple[Span, ...], *, lambda_body: bool = False) -> None:
        self.heads = heads
        self.lambda_body = lambda_body
        self.released = False
        self.left = False
        self.goes_on = True
        self.left_by_if = False
        self.closed: tuple[Span, ...] = ()


def ways_out(text: bytes, part: Span, releases: Sequence[int], again: Sequence[int] = ()) -> Iterator[Way]:
    """Yield the exits of a span of masked function text that are reached without a release at `releases`."""
    walk = _ExitWalk(text, part[0])
    for at, kind in _without_alternatives(_marks(text, part, releases, again)):
        way = walk.step(at, kind)
        if way:
            yield way
        if walk.over:
            return
    if not any(block.released for block in walk.blocks):
        yield Way(part[1], "end", (), (part[1], part[1]))


class _ExitWalk:
    """Walk over a function, starting at the acquisition; `over` is true once the resource can no longer be held."""

    def __init__(self, text: bytes, start: int) -> None:
        self.text = text
        self.start = start
        self.blocks = [_Block(())]
        self.skip = 0
        self.over = False

    def step(self, at: int, kind: bytes) -> Way | None:
        """Process one mark; return the exit at it, if any."""
        if at < self.skip:
            return None
        top = self.blocks[-1]
        if kind == RELEASE:
            top.released = True
            self.over = len(self.blocks) == 1
        elif kind == b"{":
            self.blocks.append(_opened(self.text, self.start, at, top))
        elif kind == b"}":
            return self._close(at)
        elif kind in (b"case", b"default"):
            top.released, top.left, top.goes_on = top.released and not top.left, False, True
        else:
            return self._leave(at, kind)
        return None

    def _close(self, at: int) -> Way | None:
        closed = self.blocks[-1]
        if len(self.blocks) == 1:
            self.skip = _behind_else(self.text, at + 1)
            closed.closed = ()
            return Way(at, "block", (), (at, at))
        self.blocks.pop()
        around = self.blocks[-1]
        is_else = ELSE.match(self.text, *closed.heads[-1]) is not None
        if is_else and around.left_by_if and not closed.goes_on:
            around.goes_on = False
        around.left_by_if = not closed.goes_on and (around.left_by_if or not is_else)
        around.closed = closed.heads
        if closed.released and not closed.left and not closed.lambda_body:
            around.released = True
        self.over = len(self.blocks) == 1 and (around.released or not around.goes_on)
        return None

    def _leave(self, at: int, kind: bytes) -> Way | None:
        top = self.blocks[-1]
        head = max(head_of(self.text, at), self.start)
        is_open = not any(block.released or block.lambda_body for block in self.blocks)
        if kind != AGAIN and CONDITIONAL.search(self.text, head, at) is None:
            top.left, top.goes_on = kind in JUMPS, False
            self.over = len(self.blocks) == 1
        return _way(self.text, at, kind, self.blocks, head) if is_open and (kind == AGAIN or kind in JUMPS) else None


def acquisition_end(text: bytes, start: int, end: int, *, fails: bool) -> int | None:
    """Return the offset from which the result of the call at `start` .. `end` is held, None if that is unclear.

    `fails` means that the condition around the call is true if the call failed, so that nothing is held.
    """
    head = head_of(text, start)
    if LOOPS.search(text, head, start):
        return None
    condition = IF.search(text, head, start)
    if condition is None:
        return end
    depth = 1 + text.count(b"(", condition.end(), start) - text.count(b")", condition.end(), start)
    if depth <= 0:
        return _behind_else(text, behind_statement(text, end))
    close = _close(text, end, depth)
    if close is None:
        return None
    if fails:
        return behind_statement(text, close)
    return (
        text.find(b"{", close, close + HEAD_MAX) + 1 if text[close : close + HEAD_MAX].lstrip()[:1] == b"{" else close
    )


def behind_statement(text: bytes, at: int) -> int:
    """Return the offset after the statement or block that begins at `at`."""
    depth = 0
    for match in islice(PLACES.finditer(text, at), PLACES_MAX):
        if match[0] == b"{":
            depth += 1
        elif match[0] == b"}":
            depth -= 1
            if depth <= 0:
                return match.end() if depth == 0 else match.start()
        elif depth == 0:
            return match.end()
    return len(text)


def head_of(text: bytes, at: int) -> int:
    """Return the start of the statement that contains `at`."""
    head = at - HEAD_MAX if at > HEAD_MAX else 0
    for edge in EDGES:
        offset = text.rfind(edge, head, at)
        head = offset + 1 if offset >= 0 else head
    return head


def _marks(text: bytes, part: Span, releases: Sequence[int], again: Sequence[int]) -> list[tuple[int, bytes]]:
    found_match = [(match.start(), match[0]) for match in islice(STRUCTURE.finditer(text, *part), MARKS_MAX)]
    marks = [(at, RELEASE) for at in releases] + [(at, AGAIN) for at in again]
    return sorted([*found_match, *((at, kind) for at, kind in marks if part[0] <= at < part[1])])


def _without_alternatives(marks: list[tuple[int, bytes]]) -> Iterator[tuple[int, bytes]]:
    """Omit the directives, and the other branches of an `#if` if the acquisition is in one of its branches."""
    depth, left_out = 0, False
    for at, kind in marks:
        if kind[:1] != b"#":
            if not left_out:
                yield at, kind
        elif kind.endswith(b"el"):
            left_out = left_out or depth == 0
        elif kind.endswith(b"endif"):
            left_out = left_out and depth > 0
            depth = max(0, depth - 1)
        else:
            depth += 1


def _opened(text: bytes, start: int, at: int, around: _Block) -> _Block:
    head = max(head_of(text, at), start)
    inherited = around.closed if ELSE.match(text, head, at) else ()
    return _Block((*inherited, (head, at)), lambda_body=LAMBDA.search(text, head, at + 1) is not None)


def _way(text: bytes, at: int, kind: bytes, blocks: list[_Block], head: int) -> Way:
    heads = tuple(span for block in blocks[1:] for span in block.heads)
    inherited = blocks[-1].closed if ELSE.match(text, head, at) else ()
    end = text.find(b";", at, at + CONDITION_MAX)
    label = LABEL.match(text, at)
    statement = (at, end if end >= 0 else at + CONDITION_MAX)
    return Way(at, kind.decode(), (*heads, *inherited, (head, at)), statement, label[1] if label else b"")


def _behind_else(text: bytes, at: int) -> int:
    for _ in range(PLACES_MAX):
        match = ELSE.match(text, at)
        if match is None:
            break
        at = behind_statement(text, match.end())
    return at


def _close(text: bytes, at: int, depth: int) -> int | None:
    """Return the offset after the parenthesis that closes all `depth` parentheses open at `at`."""
    for match in PARENTHESES.finditer(text, at, at + CONDITION_MAX):
        depth += 1 if match[0] == b"(" else -1
        if depth == 0:
            return match.end()
    return None
