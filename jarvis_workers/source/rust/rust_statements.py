"""Divide masked Rust code into statements, and blocks, loops, `if` and `match` into heads and bodies."""

import re
from collections.abc import Iterator

from jarvis_workers.source.rust.unsafe_blocks import RustText

BLOCK_LIKE = re.compile(r"(?:'\w+\s*:\s*)?(?:(if|while|for|match)\b|(?:loop\b|unsafe\b)?\s*\{)")
HEAD_BLOCK = re.compile(r"(?:unsafe\s*)?\{")
ELSE = re.compile(r"\s*else\b\s*")
MARK = re.compile(r"[][(){}]|;|,|=>|(?<![=<>!+*/&|^%-])=(?![=>])")


class RustStatements:
    """Reads the statements of a text. Raises ValueError for syntax that it does not understand."""

    def __init__(self, source: RustText) -> None:
        self.code, self._pairs = source.code, source.pairs

    def split(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Yield the extents of the statements between two offsets; the last one may be an expression."""
        at = self.skip(start, end)
        while at < end:
            last = self._statement_end(at, end)
            yield at, self.trim(at, last)
            at = self.skip(last, end)

    def skip(self, at: int, end: int) -> int:
        """Return the offset of the first code at or after an offset."""
        while at < end and self.code[at].isspace():
            at += 1
        return at

    def trim(self, start: int, end: int) -> int:
        """Return the offset after the last code between two offsets."""
        return start + len(self.code[start:end].rstrip())

    def closing(self, brace: int, end: int) -> int:
        """Return the offset of the bracket that closes one, which is before `end`."""
        if not brace <= self._pairs.get(brace, end) < end:
            raise ValueError("a bracket is not closed")
        return self._pairs[brace]

    def find(self, mark: str, start: int, end: int, default: int = -1) -> int:
        """Return the offset of a mark outside of brackets: `;`, `,`, `{`, `=` or `=>`."""
        at = start
        while match := MARK.search(self.code, at, end):
            if match[0] == mark:
                return match.start()
            at = self._pairs.get(match.start(), match.start()) + 1 if match[0] in "([{" else match.end()
        return default

    def bodies(self, start: int, end: int) -> list[tuple[str, int, int]]:
        """Return the keyword, and the offsets of head and brace, of each body of a block, loop, `if` or `match`.

        An `if` has a body for each condition, and one for `else`.
        """
        found, at = list[tuple[str, int, int]](), start
        while word := BLOCK_LIKE.match(self.code, at, end):
            head = self.skip(word.end(), end)
            brace = word.end() - 1 if word[1] is None else self._body_brace(head, end)
            found.append((word[1] or "", head, brace))
            other = ELSE.match(self.code, self.closing(brace, end) + 1, end)
            if other is None:
                return found
            at = other.end()
        raise ValueError("not a block")

    def bodies_end(self, start: int, end: int) -> int:
        """Return the offset after the last body."""
        return self.closing(self.bodies(start, end)[-1][2], end) + 1

    def _body_brace(self, head: int, end: int) -> int:
        own = HEAD_BLOCK.match(self.code, head, end)
        brace = self.find("{", self.closing(own.end() - 1, end) + 1 if own else head, end)
        if brace < 0:
            raise ValueError("a body is missing")
        return brace

    def _statement_end(self, start: int, end: int) -> int:
        if BLOCK_LIKE.match(self.code, start, end):
            try:
                last = self.bodies_end(start, end)
            except ValueError:
                return end
            if self.code[self.skip(last, end)] not in ".?":
                return last
        return self.find(";", start, end, default=end - 1) + 1
