"""Find all occurrences of many patterns in a file with the fastest installed engine.

All engines are built from the same patterns and report the same offsets in the same order; the caller decides whether a
match is relevant. To make this possible, no two patterns may match overlapping text, and each match, a word and the
text after it, has exactly one start and one end.
"""

import importlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from operator import itemgetter
from typing import Any, NamedTuple, Protocol, TypeGuard

from jarvis_workers.source.lazy_regex import lazy
from jarvis_workers.source.pattern_cache import PatternCache, key_of

UNLIMITED = 1 << 62
# hyperscan does not guarantee the order of matches: the first `limit` are among the first `limit + SLACK`.
SLACK = 1_000
# With the default of 8 MB, re2 falls back to its slow engine at about five hundred words.
RE2_MEMORY_BYTES = 64 << 20
# hyperscan compiles four hundred plain words ten times as fast as their full patterns. Shorter words occur inside many
# other words, so their full patterns are compiled.
LONG_WORD = 6
RUN = re.compile(rb"[0-9A-Za-z_]++")
# Length of the suffix of a run that is looked up first; shorter words are left to the alternation.
ENDS_BYTES = 4
WHOLE_RUN = re.compile(rb"[0-9A-Za-z_]{%d,}\Z" % ENDS_BYTES)


class Word(NamedTuple):
    """A pattern that begins with a literal word, which compiles faster; `follows` is the pattern of the rest."""

    word: bytes
    follows: bytes


class Matcher(Protocol):
    """A set of compiled patterns."""

    def find(self, content: bytes, limit: int = UNLIMITED) -> list[tuple[int, int]]:
        """Return the first `limit` matches as (pattern index, start offset), ordered by offset."""


def engines() -> tuple[str, ...]:
    """Return the installed engines, the fastest first."""
    return tuple(name for name in ENGINES if _importable(name))


def build(patterns: Sequence[bytes | Word], engine: str | None = None, cache: PatternCache | None = None) -> Matcher:
    """Compile for `engine`, or for the fastest installed engine. Raises ImportError if `engine` is not installed.

    `cache` is a cache for patterns that are slow to compile.
    """
    if engine is not None:
        return ENGINES[engine](patterns, cache)
    for make in list(ENGINES.values())[:-1]:
        try:
            return make(patterns, cache)
        except ImportError:
            continue
    return ENGINES["re"](patterns, cache)


def _importable(name: str) -> bool:
    try:
        importlib.import_module(name)
    except ImportError:
        return False
    return True


class _Hyperscan:
    """Hyperscan: one pass over the content for any number of patterns."""

    def __init__(self, patterns: Sequence[bytes | Word], cache: PatternCache | None) -> None:
        import hyperscan

        self._hyperscan = hyperscan
        flags = [0 if _is_long(one) else self._hyperscan.HS_FLAG_SOM_LEFTMOST for one in patterns]
        expressions = [re.escape(one.word) if _is_long(one) else _expression(one) for one in patterns]
        self._database = self._recalled(expressions, flags, cache) if cache else self._compiled(expressions, flags)
        follows = {one.follows: re.compile(one.follows).match for one in patterns if _is_long(one)}
        self._words = [(len(one.word), follows[one.follows]) if _is_long(one) else None for one in patterns]

    def _recalled(self, expressions: list[bytes], flags: list[int], cache: PatternCache) -> Any:
        """Load a database from the cache or compile it; hyperscan rejects databases of other versions or processors."""
        hyperscan = self._hyperscan
        key = key_of((hyperscan.__version__, expressions, flags))
        with suppress(hyperscan.error):
            if offset := cache.find(key):
                database = hyperscan.loadb(offset, hyperscan.HS_MODE_BLOCK)
                database.scratch = hyperscan.Scratch(database)
                return database
        database = self._compiled(expressions, flags)
        cache.put(key, hyperscan.dumpb(database))
        return database

    def _compiled(self, expressions: list[bytes], flags: list[int]) -> Any:
        database = self._hyperscan.Database(mode=self._hyperscan.HS_MODE_BLOCK)
        database.compile(expressions=expressions, ids=list(range(len(expressions))), flags=flags)
        return database

    def find(self, content: bytes, limit: int = UNLIMITED) -> list[tuple[int, int]]:
        result: list[tuple[int, int]] = []
        enough = limit + SLACK

        def take(pattern: int, start: int, end: int, _flags: int, _context: object) -> bool:
            word = self._words[pattern]
            if word is None:
                result.append((start, pattern))
            elif word[1](content, end):
                result.append((end - word[0], pattern))
            return len(result) >= enough

        with suppress(self._hyperscan.ScanTerminated):
            self._database.scan(content, match_event_handler=take)
        result.sort()
        return [(pattern, start) for start, pattern in result[:limit]]


def _is_long(pattern: bytes | Word) -> TypeGuard[Word]:
    return isinstance(pattern, Word) and len(pattern.word) >= LONG_WORD


def _expression(pattern: bytes | Word) -> bytes:
    return re.escape(pattern.word) + pattern.follows if isinstance(pattern, Word) else pattern


class _Alternation:
    """All patterns as one alternation; a second match at the same offset determines which pattern matched."""

    def __init__(self, patterns: Sequence[bytes | Word], compiled: Callable[[bytes], Any]) -> None:
        expressions = [_expression(pattern) for pattern in patterns]
        self._any = compiled(b"|".join(b"(?:%b)" % pattern for pattern in expressions))
        self._which = lazy(b"|".join(b"(%b)" % pattern for pattern in expressions))
        self._words = {one.word: number for number, one in enumerate(patterns) if isinstance(one, Word)}

    def find(self, content: bytes, limit: int = UNLIMITED) -> list[tuple[int, int]]:
        matches: Iterable[re.Match[bytes]] = self._any.finditer(content)
        return [(self._index(content, match.start()), match.start()) for match in islice(matches, limit)]

    def _index(self, content: bytes, start: int) -> int:
        run = RUN.match(content, start)
        if run and run[0] in self._words:
            return self._words[run[0]]
        match = self._which.match(content, start)
        return match.lastindex - 1 if match and match.lastindex else 0


class _Runs:
    """Matcher for `re`, which tries alternatives one by one: most words are looked up by the suffix of a word."""

    def __init__(self, patterns: Sequence[bytes | Word]) -> None:
        numbered = [(number, one) for number, one in enumerate(patterns)]
        words = [(number, one) for number, one in numbered if isinstance(one, Word) and WHOLE_RUN.match(one.word)]
        self._words = {one.word: (number, re.compile(one.follows).match) for number, one in words}
        self._lengths = sorted({len(word) for word in self._words})
        self._ends = {word[-ENDS_BYTES:] for word in self._words}
        numbers = {number for number, _ in words}
        self._others = [number for number, _ in numbered if number not in numbers]
        rest = [patterns[number] for number in self._others]
        self._rest = _Alternation(rest, re.compile) if rest else None

    def find(self, content: bytes, limit: int = UNLIMITED) -> list[tuple[int, int]]:
        offset = list(islice(self._matches(content), limit)) if self._words else []
        if self._rest:
            offset += [(self._others[index], at) for index, at in self._rest.find(content, limit)]
            offset.sort(key=itemgetter(1))
        return offset[:limit]

    def _matches(self, content: bytes) -> Iterator[tuple[int, int]]:
        ends = self._ends
        for run in RUN.finditer(content):
            if run[0][-ENDS_BYTES:] in ends and (one := self._word(content, *run.span())):
                yield one

    def _word(self, content: bytes, start: int, end: int) -> tuple[int, int] | None:
        for length in self._lengths:
            rules = self._words.get(content[end - length : end]) if length <= end - start else None
            if rules and rules[1](content, end):
                return rules[0], end - length
        return None


def _re2(patterns: Sequence[bytes | Word], _: PatternCache | None) -> Matcher:
    import re2

    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.log_errors = False
    options.max_mem = RE2_MEMORY_BYTES
    return _Alternation(patterns, partial(re2.compile, options=options))


def _re(patterns: Sequence[bytes | Word], _: PatternCache | None) -> Matcher:
    return _Runs(patterns)


ENGINES: dict[str, Callable[[Sequence[bytes | Word], PatternCache | None], Matcher]] = {
    "hyperscan": _Hyperscan,
    "re2": _re2,
    "re": _re,
}
