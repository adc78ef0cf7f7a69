"""The words of the rules: a rule, the file it looks at, and the site where it looks."""

from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

from jarvis_workers.source.calls import Arguments, arguments

__all__ = ["Check", "Rule", "Site", "Source"]


class Source:
    """One file under scan: as it is, and masked; what several sites need is worked out once."""

    def __init__(self, content: bytes, text: bytes, *, header: bool = False, test: bool = False) -> None:
        self.content = content
        self.text = text
        self.header = header
        self.test = test
        self.remembered: dict[str, object] = {}


class Site:
    """A name in the code that a rule asked for; `at` is the `(` behind it, or its own end for a bare word."""

    def __init__(self, source: Source, name: bytes, start: int, at: int) -> None:
        self.source = source
        self.name = name
        self.start = start
        self.at = at

    @cached_property
    def arguments(self) -> Arguments:
        return arguments(self.source.text, self.at)

    def masked(self, number: int) -> bytes:
        """Return an argument without what its literals hold; empty if there is none."""
        return self._argument(number, self.source.text)

    def original(self, number: int) -> bytes:
        return self._argument(number, self.source.content)

    def _argument(self, number: int, text: bytes) -> bytes:
        spans = self.arguments.spans
        if number >= len(spans):
            return b""
        start, end = spans[number]
        return text[start:end]

    def before(self, reach: int) -> bytes:
        """Return the masked text in front of the site, within its function as indentation shows it."""
        text = self.source.text
        start = max(0, self.start - reach)
        return text[max(start, text.rfind(b"\n}", start, self.start)) : self.start]

    def after(self, reach: int) -> bytes:
        end = self.arguments.end or self.at
        return self.source.text[end : end + reach]


Check = Callable[[Site], float | None]
Dismissal = Callable[[bytes, bytes, int], bool]


class Rule(NamedTuple):
    """One kind of finding.

    `calls` are names that count when called, `words` names that count wherever they stand.  `check` says how far the
    context moves the confidence, or None when there is nothing to report.  `dismisses(name, content, end of name)` is
    a quick look at unmasked text that spares the masking of files in which there is plainly nothing.
    """

    pattern: str
    language: str
    category: str
    cwe: int
    confidence: float
    check: Check
    description: str
    suggestion: str
    calls: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    dismisses: Dismissal | None = None
