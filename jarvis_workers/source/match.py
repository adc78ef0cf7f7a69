"""Propose where something of interest may stand in a file, at the speed of the fastest engine there is.

Every engine is built from the same patterns and proposes the same offsets, in order; whether a
proposal means anything is for the caller to decide.  For that, no two patterns may match
overlapping text, and a match has one start and one end: a word and what follows it.
"""

import importlib
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import Any, Protocol

__all__ = ["ENGINES", "Matcher", "build", "engines"]

UNLIMITED = 1 << 62
# hyperscan does not promise to report in order: the first `limit` are among the first `limit + SLACK`
SLACK = 1_000


class Matcher(Protocol):
    """Patterns, compiled."""

    def find(self, content: bytes, limit: int = UNLIMITED) -> list[tuple[int, int]]:
        """Return the first `limit` (pattern index, start offset), by offset."""
        ...


def engines() -> tuple[str, ...]:
    """Return the engines that can be used here, the best first."""
    return tuple(name for name in ENGINES if _importable(name))


def build(patterns: Sequence[bytes], engine: str | None = None) -> Matcher:
    """Compile for one engine, or for the best there is; ImportError if `engine` is not installed."""
    if engine is not None:
        return ENGINES[engine](patterns)
    for make in list(ENGINES.values())[:-1]:
        try:
            return make(patterns)
        except ImportError:
            continue
    return ENGINES["re"](patterns)


def _importable(name: str) -> bool:
    try:
        importlib.import_module(name)
    except ImportError:
        return False
    return True


class _Hyperscan:
    """One pass over the content, whatever the number of patterns."""

    def __init__(self, patterns: Sequence[bytes]) -> None:
        self._hyperscan = importlib.import_module("hyperscan")
        self._database = self._hyperscan.Database(mode=self._hyperscan.HS_MODE_BLOCK)
        flags = [self._hyperscan.HS_FLAG_SOM_LEFTMOST] * len(patterns)
        self._database.compile(expressions=list(patterns), ids=list(range(len(patterns))), flags=flags)

    def find(self, content: bytes, limit: int = UNLIMITED) -> list[tuple[int, int]]:
        found: list[tuple[int, int]] = []
        enough = limit + SLACK

        def take(pattern: int, start: int, *_rest: object) -> bool:
            found.append((start, pattern))
            return len(found) >= enough

        with suppress(self._hyperscan.ScanTerminated):
            self._database.scan(content, match_event_handler=take)
        found.sort()
        return [(pattern, start) for start, pattern in found[:limit]]


class _Alternation:
    """All patterns as one alternative; which one it was is asked again at each match."""

    def __init__(self, patterns: Sequence[bytes], compiled: Callable[[bytes], Any]) -> None:
        self._any = compiled(b"|".join(b"(?:%b)" % pattern for pattern in patterns))
        self._which = re.compile(b"|".join(b"(%b)" % pattern for pattern in patterns))

    def find(self, content: bytes, limit: int = UNLIMITED) -> list[tuple[int, int]]:
        matches: Iterable[re.Match[bytes]] = self._any.finditer(content)
        return [(self._index(content, match.start()), match.start()) for match in islice(matches, limit)]

    def _index(self, content: bytes, start: int) -> int:
        match = self._which.match(content, start)
        return match.lastindex - 1 if match and match.lastindex else 0


def _re2(patterns: Sequence[bytes]) -> Matcher:
    re2 = importlib.import_module("re2")
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    return _Alternation(patterns, partial(re2.compile, options=options))


def _re(patterns: Sequence[bytes]) -> Matcher:
    return _Alternation(patterns, re.compile)


ENGINES: dict[str, Callable[[Sequence[bytes]], Matcher]] = {"hyperscan": _Hyperscan, "re2": _re2, "re": _re}
