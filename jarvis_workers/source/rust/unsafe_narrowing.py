"""Find the smallest parts of an unsafe block that need it: statements, conditions, initial values and arms of matches.

Names bound in a block are not visible outside of it, so an unsafe `let` gets a block around its value.  Where another
block could change the meaning of a place (patterns with `ref`) or the life of a temporary value (calls in the head of a
`match` or `if let`), and where the syntax is not understood, a larger part is taken.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from jarvis_workers.source.rust.rust_statements import BLOCK_LIKE, ELSE, RustStatements
from jarvis_workers.source.rust.unsafe_blocks import RustText, UnsafeBlock

LET, IN = re.compile(r"let\b"), re.compile(r"\bin\s+")
ITEM = re.compile(r"(?:pub|fn|struct|enum|union|impl|trait|mod|use|static|type|extern|macro_rules)\b|const\s+\w+\s*:|#")
CALL = re.compile(r"[\w>)\]!]\s*\(|\?")
BY_REFERENCE = re.compile(r"\bref\b")
DIVERGES = re.compile(r"\belse\s*$")


class UnsafePart(NamedTuple):
    """A part of a block that becomes an unsafe block: whole statements, or an expression."""

    start: int
    end: int
    is_run: bool


def narrowed_parts(source: RustText, block: UnsafeBlock, needs: Sequence[int]) -> list[UnsafePart]:
    """Return the parts of a block that need it, given the offsets of its unsafe operations.

    It is the whole block, as one part, if all lines need it.
    """
    narrowing = _Narrowing(source, needs)
    parts = narrowing.statements(block.brace + 1, block.end - 1)
    content = UnsafePart(block.brace + 1, block.end - 1, is_run=True)
    is_smaller = parts and narrowing.lines(parts) < narrowing.lines([narrowing.trimmed(content)])
    return parts if is_smaller else [UnsafePart(block.start, block.end, is_run=False)]


class _Narrowing:
    """Raises ValueError for code that must not be divided."""

    def __init__(self, source: RustText, needs: Sequence[int]) -> None:
        self._source, self._code, self._needs = source, source.code, needs
        self._read = RustStatements(source)

    def lines(self, parts: Sequence[UnsafePart]) -> int:
        """Return the number of lines that parts cover."""
        spans = ((self._source.line_of(one.start), self._source.line_of(one.end - 1) + 1) for one in parts)
        return len({line for span in spans for line in range(*span)})

    def trimmed(self, part: UnsafePart) -> UnsafePart:
        """Return a part without the white space and comments around it."""
        start = self._read.skip(part.start, part.end)
        return part._replace(start=start, end=max(start + 1, self._read.trim(start, part.end)))

    def statements(self, start: int, end: int) -> list[UnsafePart]:
        """Return the parts of the statements between two offsets; whole neighbours become one part."""
        parts = list[UnsafePart]()
        for first, last in self._read.split(start, end):
            try:
                parts += self._statement(first, last) if self._needed(first, last) else ()
            except ValueError:
                # The statements that follow use the names that it binds.
                parts.append(UnsafePart(first, self._read.trim(first, end), is_run=True))
                break
        return list(self._joined(parts))

    def _needed(self, start: int, end: int) -> bool:
        return any(start <= need < end for need in self._needs)

    def _joined(self, parts: Sequence[UnsafePart]) -> Iterator[UnsafePart]:
        run: UnsafePart | None = None
        for part in parts:
            if run and part.is_run and run.is_run and not self._code[run.end : part.start].strip():
                run = run._replace(end=part.end)
                continue
            if run:
                yield run
            run = part
        if run:
            yield run

    def _statement(self, start: int, end: int) -> list[UnsafePart]:
        if ITEM.match(self._code, start, end):
            raise ValueError("an item, or an attribute")
        if LET.match(self._code, start, end):
            return self._let(start, end)
        return self._divided(start, end, is_run=True)

    def _let(self, start: int, end: int) -> list[UnsafePart]:
        value = self._read.find("=", start, end)
        pattern = self._code[start + len("let") : value].partition(":")[0].strip()
        if pattern == "_":
            return [UnsafePart(start, end, is_run=True)]
        first, last = self._read.skip(value + 1, end), self._read.trim(start, end - 1)
        if value < 0 or BY_REFERENCE.search(pattern) or self._needed(start, value) or self._diverges(first, last):
            raise ValueError("its value cannot be separated")
        return self._divided(first, last, is_run=False)

    def _diverges(self, start: int, end: int) -> bool:
        """Return whether `else` follows a value, as in `let … else`, instead of being a part of it."""
        at = self._read.bodies_end(start, end) if BLOCK_LIKE.match(self._code, start, end) else start
        if ELSE.match(self._code, at, end):
            return True
        while (brace := self._read.find("{", at, end)) >= 0:
            if DIVERGES.search(self._code[at:brace]):
                return True
            at = self._read.closing(brace, end) + 1
        return False

    def _divided(self, start: int, end: int, *, is_run: bool) -> list[UnsafePart]:
        """Return the parts of an expression, or the whole if they do not save lines, counting their comments."""
        whole = [UnsafePart(start, end, is_run)]
        if not BLOCK_LIKE.match(self._code, start, end):
            return whole
        try:
            parts = list(self._bodies(start, end))
        except ValueError:
            return whole
        return parts if self.lines(parts) + len(parts) <= self.lines(whole) else whole

    def _bodies(self, start: int, end: int) -> Iterator[UnsafePart]:
        """Yield the parts of a block, loop, `if` or `match`."""
        if self._read.bodies_end(start, end) != end:
            raise ValueError("it is part of a larger expression")
        for word, head, brace in self._read.bodies(start, end):
            last = self._read.closing(brace, end)
            if self._needed(head, brace):
                yield self._head(word, head, self._read.trim(head, brace), last)
            yield from self._arms(brace + 1, last) if word == "match" else self.statements(brace + 1, last)

    def _head(self, word: str, start: int, end: int, last: int) -> UnsafePart:
        code = self._code[start:end]
        is_pattern = bool(LET.match(code))
        bound = self._code[start:last] if word == "match" else code
        if (word == "match" or is_pattern) and (BY_REFERENCE.search(bound) or CALL.search(code)):
            raise ValueError("a place, or a temporary value")
        if (is_pattern and re.search(r"&&|\|\|", code)) or LET.search(code, 1):
            raise ValueError("a chain of conditions")
        found = IN.search(code) if word == "for" else None
        value = self._read.find("=", start, end) + 1 if is_pattern else start + found.end() if found else start
        if self._needed(start, value):
            raise ValueError("a pattern")
        return UnsafePart(self._read.skip(value, end), end, is_run=False)

    def _arms(self, start: int, end: int) -> Iterator[UnsafePart]:
        at = self._read.skip(start, end)
        while at < end:
            arrow = self._read.find("=>", at, end)
            if arrow < 0 or self._needed(at, arrow):
                raise ValueError("a guard")
            value = self._read.skip(arrow + len("=>"), end)
            is_block = self._code[value] == "{"
            last = self._read.closing(value, end) + 1 if is_block else self._read.find(",", value, end, default=end)
            if self._needed(value, last):
                yield from self._divided(value, self._read.trim(value, last), is_run=False)
            at = self._read.skip(last, end)
            at = self._read.skip(at + 1, end) if self._code[at] == "," else at
