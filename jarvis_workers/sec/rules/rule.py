"""Types of the rules: a rule, the source text it checks, and the site of a match."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypedDict, TypeVar, Unpack, cast

from jarvis_workers.sec.rules.analysis.call_results import ResultUse, result_of
from jarvis_workers.sec.rules.analysis.mentions import Use, uses
from jarvis_workers.source.calls import ArgumentList, arguments
from jarvis_workers.source.functions import Function, Functions, functions

REACH = 8_192
TITLE_LENGTH = 60
EXAMPLE = re.compile(r"^/\* (bad|good): (\w+) \*/\n(.*?)\n(?=\n/\*|\Z)", re.MULTILINE | re.DOTALL)
T = TypeVar("T")


class _Once(Generic[T]):
    """Lazy property, computed on first access; faster than `cached_property`, which takes a lock."""

    def __init__(self, work: Callable[[Any], T]) -> None:
        self._work = work

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, one: Any, owner: type) -> T:
        value = one.__dict__[self._name] = self._work(one)
        return value


class SourceText:
    """One scanned file, original and masked (comments and literals); caches facts that several sites need."""

    def __init__(
        self, content: bytes, text: bytes, *, language: str = "c/cpp", header: bool = False, test: bool = False
    ) -> None:
        self.content = content
        self.text = text
        self.language = language
        self.header = header
        self.test = test
        self.aliases: Mapping[bytes, bytes] = {}
        self.cache: dict[str, object] = {}
        # Where the search for functions ended before the end of the text, if a rule has asked for any.
        self.unsearched: int | None = None

    def once(self, fact: str, compute: Callable[[], T]) -> T:
        """Return a fact about the file, computed on first use; if callers fill a table, `compute` is its type."""
        if fact not in self.cache:
            self.cache[fact] = compute()
        return cast(T, self.cache[fact])

    @_Once
    def functions(self) -> Functions:
        found = functions(self.text, self.language)
        self.unsearched = found.unsearched
        return found


class Site:
    """A match of a rule's name in the code; `at` is the `(` after it, or the end of the name for a bare word."""

    def __init__(self, source: SourceText, name: bytes, start: int, at: int) -> None:
        self.source = source
        self.name = name
        self.start = start
        self.at = at

    @_Once
    def arguments(self) -> ArgumentList:
        return arguments(self.source.text, self.at)

    def masked(self, number: int) -> bytes:
        """Return an argument with its literals masked; empty if there is no such argument."""
        return self._argument(number, self.source.text)

    def original(self, number: int) -> bytes:
        return self._argument(number, self.source.content)

    def _argument(self, number: int, text: bytes) -> bytes:
        spans = self.arguments.spans
        if not 0 <= number < len(spans):
            return b""
        start, end = spans[number]
        return text[start:end]

    def before(self, reach: int) -> bytes:
        """Return up to `reach` bytes of masked text before the site, no further than the start of its function."""
        text = self.source.text
        start = max(0, self.start - reach)
        return text[max(start, text.rfind(b"\n}", start, self.start)) : self.start]

    @_Once
    def function(self) -> Function | None:
        """The enclosing function; in a truncated file, its body ends 8 KB after the last matched name."""
        return self.source.functions.at(self.start)

    @_Once
    def result(self) -> ResultUse:
        """Use of the call's result."""
        return result_of(self.source.text, self.start, self.arguments.end)

    def uses_before(self, name: bytes) -> Iterator[Use]:
        """Yield the first mentions of a variable in the function before the site."""
        return uses(self.source.text, name, self.function.body[0] if self.function else self.start, self.start)

    def uses_after(self, name: bytes, reach: int = REACH) -> Iterator[Use]:
        """Yield the mentions of a variable in the function within `reach` bytes after the call."""
        start = self.arguments.end or self.at
        end = self.function.body[1] if self.function else start
        return uses(self.source.text, name, start, min(end, start + reach))

    def after(self, reach: int) -> bytes:
        end = self.arguments.end or self.at
        return self.source.text[end : end + reach]


Check = Callable[[Site], float | None]
Dismissal = Callable[[bytes, bytes, int], bool]
Places = Callable[[bytes], Iterator[int]]


class Rule(NamedTuple):
    """One kind of finding.

    `calls` are names that match when called, `words` names that match anywhere, `tails` suffixes of names that match
    (`password` for `db_password`), and `shapes` patterns in the common syntax of hyperscan, re2 and re, whose start is
    the site; no two shapes of a language may match overlapping text.  `places` finds sites in the file before its
    newlines are normalized; these count in comments and literals, too.  `check` returns the confidence adjustment for
    the context, or None if there is nothing to report.  `dismisses(name, content, end of name)` is a quick test on
    unmasked text, so that files without any plausible site need not be masked.  `title` is a few words for lists;
    `verification` is the condition under which a finding is real; `bad` and `good` are examples of a few lines.

    A rule without a `check` is reported by `dataflow`, not by the scanner.  Its findings replace those of the rules
    that it `supersedes` on the same line.  `taint` is the row of a project's own rule with sources and sinks.
    """

    pattern: str
    category: str
    cwe: int
    confidence: float
    check: Check | None
    title: str
    description: str
    suggestion: str
    verification: str
    bad: str
    good: str
    language: str = "c/cpp"
    calls: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    tails: tuple[str, ...] = ()
    shapes: tuple[str, ...] = ()
    places: Places | None = None
    dismisses: Dismissal | None = None
    supersedes: tuple[str, ...] = ()
    taint: Mapping[str, Any] | None = None


class Matching(TypedDict, total=False):
    """How a rule finds its sites: the fields of `Rule` with these names."""

    calls: tuple[str, ...]
    words: tuple[str, ...]
    tails: tuple[str, ...]
    shapes: tuple[str, ...]
    places: Places | None
    dismisses: Dismissal | None


def rule(pattern: str, check: Check | None = None, **matching: Unpack[Matching]) -> Rule:
    """Return a built-in rule: numbers and texts come from rules.json, examples from examples.c and examples.rs."""
    return Rule(pattern, check=check, **rows()[pattern], **matching)


@cache
def rows() -> Mapping[str, Mapping[str, Any]]:
    """Return the rows of rules.json by rule id, with the examples as `bad` and `good`."""
    table = {
        pattern: row | {"supersedes": tuple(row.get("supersedes", ()))}
        for pattern, row in json.loads(_text("rules.json")).items()
    }
    for name in ("examples.c", "examples.rs"):
        for kind, pattern, code in EXAMPLE.findall(_text(name)):
            table[pattern][kind] = code
    return table


def _text(name: str) -> str:
    """Return a file of this package, which may be in an archive."""
    loader: Any = __spec__.loader
    return str(loader.get_data(str(Path(__file__).with_name(name))), "utf-8")


def title_of(message: str, most: int = TITLE_LENGTH) -> str:
    """Return a title for a rule without one: the first sentence of its message, cut at `most` characters."""
    sentence = message.partition(". ")[0].rstrip(".")
    return sentence if len(sentence) <= most else sentence[: most - 1].rstrip() + "…"
