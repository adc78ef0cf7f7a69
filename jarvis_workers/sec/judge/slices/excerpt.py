"""Select the lines of a function that bear on some of its lines, as far as there is room for them.

A function that fits is shown whole.  Of any other, in this order: the lines in question, the head, the statements and
preprocessor conditions that enclose the lines, the lines that name what they name (declarations and checks), and the
lines around.  Blank lines take no room, since they are not shown.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from jarvis_workers.agents.tools.reading import LONGEST_LINE
from jarvis_workers.sec.judge.slices.keywords import KEYWORD_BYTES
from jarvis_workers.sec.judge.slices.places import CodeRange, SourceFile, masked_line

# The characters of a line number, and at most of a line (`short_line`).
GUTTER, LINE_MAX = 6, LONGEST_LINE + 30
HEAD_LINES, STATEMENT_LINES = 12, 8
NEAR, REACHES = 2, (4, 8, 16, 32, 64, 128)
NAMES_MAX, ENCLOSING_MAX = 24, 24
SEARCHED_LINES, SEARCHED_BYTES, COMMON = 2_000, 2_000, 40
BELOW = 4
NAME = re.compile(rb"(?<!\w)[A-Za-z_]\w*+")
VARIABLE = re.compile(rb"(?<!\w)[A-Za-z_]\w*+(?!\s*+\()")
CALLED = re.compile(rb"(?<!\w)([A-Za-z_]\w*+)\s*+\(")
CHECK = re.compile(rb"^\s*(?:\}\s*)?(?:else\s+)?(?:if|while|for|switch)\b")
BRACE = re.compile(rb"[{}]")
LABEL = re.compile(rb"^\s*(?:case\b[^:]*|default\s*):")

Lines = tuple[int, int]


def excerpt(
    file: SourceFile, place: CodeRange, focus: Sequence[int], room: int, reach: int = REACHES[-1]
) -> list[Lines]:
    """Return the lines of a place to show; those in `focus` are always shown, and at most `reach` lines around them."""
    whole = (place.first, place.last)
    if place.function and size_of(file, [whole]) <= room:
        return [whole]
    chosen = set(focus)
    left = room - sum(_cost(file, line) for line in chosen)
    for first, last in _by_relevance(file, place, focus, reach):
        more = [line for line in range(max(place.first, first), min(place.last, last) + 1) if line not in chosen]
        cost = sum(_cost(file, line) for line in more)
        if cost <= left:
            chosen.update(more)
            left -= cost
    return merged((line, line) for line in chosen)


def names_on(file: SourceFile, lines: Iterable[int]) -> list[bytes]:
    """Return the identifiers on some lines, each once, in order."""
    return _identifiers(NAME, file, lines)


def variables_on(file: SourceFile, lines: Iterable[int]) -> list[bytes]:
    """Return the identifiers on some lines that are not called."""
    return _identifiers(VARIABLE, file, lines)


def called_on(file: SourceFile, lines: Iterable[int]) -> list[bytes]:
    """Return the identifiers on some lines that are called."""
    return _identifiers(CALLED, file, lines)


def _identifiers(shape: re.Pattern[bytes], file: SourceFile, lines: Iterable[int]) -> list[bytes]:
    keywords = KEYWORD_BYTES[file.language]
    found = (name for line in lines for name in shape.findall(masked_line(file, line)[:SEARCHED_BYTES]))
    return list(dict.fromkeys(name for name in found if name not in keywords))[:NAMES_MAX]


def lines_of(spans: Iterable[Lines]) -> list[int]:
    return [line for first, last in spans for line in range(first, last + 1)]


def statement(file: SourceFile, place: CodeRange, line: int) -> Lines:
    """Return the lines of the statement on a line, which may begin above it and end below it."""
    first = last = line
    while first > place.first and line - first < STATEMENT_LINES and _is_open(masked_line(file, first - 1)):
        first -= 1
    while last < place.last and last - line < STATEMENT_LINES and _is_open(masked_line(file, last)):
        last += 1
    return first, last


def mentions(file: SourceFile, place: CodeRange, focus: Sequence[int], names: Iterable[bytes]) -> list[int]:
    """Return the lines of a place that name one of `names`: for each name the first, then the nearest ones.

    Lines that name only what many lines name come last.
    """
    shapes = b"|".join(map(re.escape, names))
    if not shapes:
        return []
    shape = re.compile(rb"\b(?:" + shapes + rb")\b")
    first, last = max(place.first, min(focus) - SEARCHED_LINES), min(place.last, max(focus) + SEARCHED_LINES)
    found = {line: set(shape.findall(masked_line(file, line)[:SEARCHED_BYTES])) for line in range(first, last + 1)}
    count = Counter(chain.from_iterable(found.values()))
    seen: set[bytes] = set()
    declared, others = [], []
    for line, named in found.items():
        if named - seen:
            declared.append(line)
        elif named:
            others.append((min(count[name] for name in named) > COMMON, _distance(line, focus), line))
        seen |= named
    return [*declared, *(line for _, _, line in sorted(others))]


def beginning(file: SourceFile, place: CodeRange, room: int) -> Lines:
    """Return as many of the first lines of a place as there is room for."""
    last = place.first
    left = room - _cost(file, last)
    while last < place.last and left >= (cost := _cost(file, last + 1)):
        left -= cost
        last += 1
    return place.first, last


def size_of(file: SourceFile, excerpts: Iterable[Lines]) -> int:
    return sum(_cost(file, line) for line in lines_of(excerpts))


def merged(spans: Iterable[Lines]) -> list[Lines]:
    """Return the spans in order, with overlapping and adjacent ones joined."""
    result: list[Lines] = []
    for first, last in sorted(spans):
        if result and first <= result[-1][1] + 1:
            result[-1] = (result[-1][0], max(last, result[-1][1]))
        else:
            result.append((first, last))
    return result


def _by_relevance(file: SourceFile, place: CodeRange, focus: Sequence[int], reach: int) -> Iterator[Lines]:
    statements = [statement(file, place, line) for line in focus]
    yield from statements
    if place.function:
        head = file.line_of(place.function.body[0])
        yield place.first, min(head, place.first + HEAD_LINES)
        for line in focus:
            yield from _enclosing(file, place, line)
    yield from ((line - NEAR, line + NEAR) for line in focus)
    if place.function:
        for line in mentions(file, place, focus, variables_on(file, lines_of(statements))):
            checked = CHECK.match(masked_line(file, line)) is not None
            _, last = statement(file, place, line)
            yield line, last + checked
    for around in REACHES:
        if around <= reach:
            yield from ((line - around, line + around) for line in focus)


def _enclosing(file: SourceFile, place: CodeRange, line: int) -> Iterator[Lines]:
    """Yield the heads of the blocks around a line, the innermost first, its `case` label, and its `#if` directives."""
    for condition in file.conditions.at(line):
        yield from ((at, at) for at in condition.lines if place.first <= at <= place.last)
    depth, label, found = 0, False, 0
    for at in range(line - 1, max(place.first, line - SEARCHED_LINES) - 1, -1):
        text = masked_line(file, at)[:SEARCHED_BYTES]
        if depth == 0 and not label and LABEL.match(text):
            label = True
            yield at, at
        outwards = depth
        for brace in reversed(BRACE.findall(text)):
            depth += 1 if brace == b"}" else -1
            outwards = min(outwards, depth)
        if outwards < 0:
            depth, label = depth - outwards, False
            found += 1
            yield statement(file, place, at)
        if found == ENCLOSING_MAX:
            return


def _is_open(text: bytes) -> bool:
    """Return whether a statement goes on in the next line."""
    text = text.strip()
    return bool(text) and not text.startswith(b"#") and not text.endswith((b";", b"{", b"}", b":"))


def _cost(file: SourceFile, line: int) -> int:
    text = file.decided[line - 1].rstrip()
    return min(len(text), LINE_MAX) + GUTTER if text else 0


def _distance(line: int, focus: Sequence[int]) -> int:
    """Return the number of lines to the nearest line in question; what follows it counts as further away."""
    return min(at - line if line <= at else (line - at) * BELOW for at in focus)
