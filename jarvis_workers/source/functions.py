"""Find the functions of a file by matching braces in its masked text.

This is not a parser. Usually a block ends with the first `}` at the indentation of the line that opened the block; if
all braces in between are balanced, the block is skipped as a whole. Otherwise its braces are read one by one. Where
preprocessor branches leave braces unbalanced, `#else` restores the state at its `#if`, and a brace at the start of a
line counts as a function boundary: an unusual macro affects at most one function.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from operator import attrgetter
from typing import NamedTuple

from jarvis_workers.source.c_tokens import SPLICE
from jarvis_workers.source.function_heads import EDGES, GROUPS_MAX, HEAD_MAX, NAME_MAX, Head, function_head, split_head
from jarvis_workers.source.grammar_files import ACTION_NAME, GRAMMARS, actions, body_of
from jarvis_workers.source.lazy_regex import lazy
from jarvis_workers.source.lex import LOGICAL_LINE
from jarvis_workers.source.macro_heads import ParameterMacros

BLOCK_MAX = 131_072
NESTED_MAX = 24
DIRECTIVE = lazy(rb"#(?>[ \t]|" + SPLICE + rb")*+(?:(?P<opens>if)|(?P<other>el)|(?P<closes>endif))")
# Each alternative begins with a literal byte, so that the search for the next match runs at full speed.
MARKS = {"c/cpp": re.compile(rb"\{|\}|" + DIRECTIVE.pattern), "rust": re.compile(rb"\{|\}")}
HASH, CLOSES = b"#}"
NO_BRACES = bytes(byte for byte in range(256) if byte not in b"{}")
INDENTATION = lazy(rb"[ \t]*+")
LINE = lazy(LOGICAL_LINE)
RUST_FUNCTION = lazy(rb"\bfn\s+(\w+)")
RUST_CONTAINER = lazy(rb"\b(?:mod|impl|trait|extern)\b|\bmacro_rules\b")
C_CONTAINER = lazy(rb"\b(?:namespace|class|struct|union|extern)\b")
OLD_PARAMETERS = lazy(rb"\s*+(?>[A-Za-z_][\w\s*,\[\]()]*+;\s*+)++")
# No handwritten file has so many braces; a search of more would take seconds.
MARKS_MAX = 1_000_000
MANY_MARKS = f"more than {MARKS_MAX:,} braces and conditional directives"


class Function(NamedTuple):
    """The location of a function: name, start offset, span of the parameters, span of the body."""

    name: bytes
    start: int
    parameters: tuple[int, int]
    body: tuple[int, int]

    @property
    def is_action(self) -> bool:
        """Return whether this is an action of a grammar, which has no head and may have no braces."""
        return self.parameters == (self.start, self.start)


class Functions:
    """The functions of a file, by offset; those behind the offset `unsearched`, if there is one, were not searched."""

    def __init__(self, functions: list[Function], unsearched: int | None = None) -> None:
        self._functions = functions
        self.unsearched = unsearched
        self._starts = [function.body[0] for function in functions]

    def __iter__(self) -> Iterator[Function]:
        return iter(self._functions)

    def at(self, offset: int) -> Function | None:
        """Return the function whose body contains an offset, or None."""
        place = bisect_right(self._starts, offset) - 1
        if place < 0 or offset > self._functions[place].body[1]:
            return None
        return self._functions[place]


class _Place(NamedTuple):
    """The state of the brace scanner: number of open containers, current function or None, depth of other braces."""

    around: int
    head: tuple[bytes, int, tuple[int, int], int] | None
    inner: int


NOWHERE = _Place(0, None, 0)


def functions(text: bytes, language: str) -> Functions:
    """Return the functions in masked text; an unclosed function ends with the text.  Each action in a grammar is one.

    Text after MARKS_MAX braces and conditional directives is not searched, nor the function that they end in.
    """
    if language not in GRAMMARS:
        return _functions(text, language)
    spans, rest = actions(text, language)
    others = _functions(rest, "c/cpp")
    found = [*others, *(_action(text, start, end) for start, end in spans)]
    return Functions(sorted(found, key=attrgetter("body")), others.unsearched)


def _action(text: bytes, start: int, end: int) -> Function:
    return Function(ACTION_NAME, start, (start, start), body_of(text, (start, end)))


def _functions(text: bytes, language: str) -> Functions:
    result: list[Function] = []
    at = NOWHERE
    branches: list[_Place] = []
    skipper = _BlockSkipper(text)
    macros = ParameterMacros(text)
    behind, next_mark = 0, MARKS[language].search
    for _ in range(MARKS_MAX):
        mark = next_mark(text, behind)
        if mark is None:
            break
        place, behind = mark.span()
        if text[place] == HASH:
            at = _after_directive(mark, at, branches)
            continue
        closes = text[place] == CLOSES
        if at.head and _is_edge(text, place, at, closes=closes):
            result.append(_closed(at, place))
            at = _Place(at.around, None, 0)
            if closes:
                continue
        if closes:
            at = _left(at)
            continue
        before, at = at, _opened(text, place, at, language, macros)
        if at.inner == 1 and (end := skipper.whole_block(place)):
            behind = end
            if at.head:
                result.append(_closed(at, end - 1))
            at = before
    else:
        return Functions(result, at.head[1] if at.head else behind)
    if at.head:
        result.append(_closed(at, len(text)))
    return Functions(result)


class _BlockSkipper:
    """Skips whole blocks within a budget of failed attempts, so that scanning stays linear in the text."""

    def __init__(self, text: bytes) -> None:
        self._text = text
        self._left = 4 * len(text) + BLOCK_MAX

    def whole_block(self, place: int) -> int | None:
        """Return the end of the block that opens at `place`, or None if indentation and braces disagree about it."""
        text = self._text
        if self._left < 0:
            return None
        if text[place + 1 : place + 2] != b"\n":
            line_end = text.find(b"\n", place, place + HEAD_MAX)
            short = text.rfind(b"}", place, line_end) if line_end >= 0 else -1
            if short >= 0 and _is_paired(text[place + 1 : short]):
                return short + 1
        closing = b"\n}"
        if text[place - 1 : place] != b"\n":
            line = text.rfind(b"\n", max(0, place - HEAD_MAX), place) + 1
            indented = INDENTATION.match(text, line, place)
            closing = b"\n%b}" % (indented[0] if indented else b"")
        offset = text.find(closing, place, place + BLOCK_MAX)
        end = offset + len(closing) - 1 if offset >= 0 else -1
        if end >= 0 and _is_paired(text[place + 1 : end]):
            return end + 1
        self._left -= (end if end >= 0 else min(place + BLOCK_MAX, len(text))) - place
        return None


def _is_paired(block: bytes) -> bool:
    """Return whether all braces and all `#if` directives of a block are balanced."""
    braces = block.translate(None, NO_BRACES)
    for _ in range(NESTED_MAX):
        if not braces:
            return b"#" not in block or _has_whole_branches(block)
        braces = braces.replace(b"{}", b"")
    return False


def _has_whole_branches(block: bytes) -> bool:
    kinds = [match.lastgroup for match in DIRECTIVE.finditer(block)]
    return kinds.count("opens") == kinds.count("closes") and kinds[:1] in ([], ["opens"])


def _after_directive(directive: re.Match[bytes], at: _Place, branches: list[_Place]) -> _Place:
    if directive["opens"]:
        branches.append(at)
    elif directive["closes"]:
        if branches:
            branches.pop()
    elif branches:
        return branches[-1]
    return at


def _is_edge(text: bytes, place: int, at: _Place, *, closes: bool) -> bool:
    """Return whether a brace ends the current function, because of its depth or its position at the start of a line."""
    outermost = at.around == 0 and text[place - 1 : place] == b"\n"
    if closes:
        return at.inner <= 1 or outermost
    before = text[max(0, place - 64) : place].rstrip()
    return outermost and before.endswith(b")") and function_head(text, _window(text, place), place) is not None


def _left(at: _Place) -> _Place:
    if at.inner:
        return _Place(at.around, at.head, at.inner - 1)
    return _Place(max(0, at.around - 1), at.head, 0)


def _opened(text: bytes, place: int, at: _Place, language: str, macros: ParameterMacros) -> _Place:
    if at.inner:
        return _Place(at.around, at.head, at.inner + 1)
    if not text.endswith((b")\n", b") "), 0, place):
        before = text[place - NAME_MAX if place > NAME_MAX else 0 : place].rstrip()
        if before.endswith((b"=", b",", b"(")):
            return _Place(at.around, at.head, 1)
    start = _window(text, place)
    if language == "rust":
        head = _rust_head(text, start, place)
    else:
        head = function_head(text, start, place) or _old_head(text, start, place)
        head = head or macros.head(start, place) or split_head(text, start, place)
    if head:
        return _Place(at.around, (*head, place + 1), 1)
    container = RUST_CONTAINER if language == "rust" else C_CONTAINER
    is_container = container.search(text, start, place) is not None
    return _Place(at.around + 1, None, 0) if is_container else _Place(at.around, None, 1)


def _closed(at: _Place, end: int) -> Function:
    assert at.head is not None
    name, start, parameters, body = at.head
    return Function(name, start, parameters, (body, end))


def _window(text: bytes, place: int) -> int:
    """Return the start of the declaration that ends at a brace."""
    floor = place - HEAD_MAX if place > HEAD_MAX else 0
    start = max(floor, *(text.rfind(edge, floor, place) + 1 for edge in EDGES))
    directive = text.rfind(b"\n#", floor, place)
    if directive < 0 and (floor or not text.startswith(b"#")):
        return start
    line = LINE.match(text, directive + 1, place)
    if line is None or line.end() <= start:
        return start
    # The edge may be in the directive. If the brace is, too, the function is in a macro.
    return line.end() if directive + 1 >= start or line.end() < place else start


def _rust_head(text: bytes, start: int, place: int) -> Head | None:
    heads = list(RUST_FUNCTION.finditer(text, start, place))
    if not heads:
        return None
    head = heads[-1]
    opened, closed = text.find(b"(", head.end(), place), text.rfind(b")", head.end(), place)
    return head[1], head.start(1), (opened + 1, closed) if 0 <= opened < closed else (head.end(), head.end())


def _old_head(text: bytes, start: int, place: int) -> Head | None:
    """Parse a K&R head, `int f(a, b) int a; char *b; {`, where the parameter types follow the parameter list."""
    if text[start - 1 : start] != b";" or text[start:place].strip():
        return None
    closed = place
    for _ in range(GROUPS_MAX):
        closed = text.rfind(b")", max(0, place - HEAD_MAX), closed)
        if closed < 0:
            return None
        if OLD_PARAMETERS.fullmatch(text, closed + 1, place):
            return function_head(text, _window(text, closed), closed + 1)
    return None
