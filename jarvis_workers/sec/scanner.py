"""Scan one file: bytes in, hits out, the same whatever the engine, the line endings or the byte-order mark.

An engine proposes names, most files end there.  What is left is masked, and each rule that asked for a name looks
at it where it stands.  What was not looked at because the file is beyond all measure is said in `problem`.
"""

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from jarvis_workers.sec.evidence import evidence
from jarvis_workers.sec.rules import RULES
from jarvis_workers.sec.rules.rule import Rule, Site, Source
from jarvis_workers.source.calls import is_declaration, is_foreign, opening
from jarvis_workers.source.lex import mask
from jarvis_workers.source.match import Matcher, build

__all__ = ["EXTENSIONS", "Hit", "Scan", "Scanner", "is_header", "is_test", "language_of"]

MATCHES_MAX = 50_000
# Of the sites of one rule on one line so many are looked at: the surest is reported.
SITES_PER_LINE = 16
# How far behind the last name a rule may look.
LOOK_AHEAD = 8_192
LEAST, MOST = 0.4, 0.95
TEST_FILE = -0.1

EXTENSIONS: Mapping[bytes, str] = {
    **dict.fromkeys(b"c cpp h hpp cc cxx c++ C hh hxx inl ipp tpp".split(), "c/cpp"),
    b"rs": "rust",
}
HEADERS = frozenset(b"h hpp hh hxx inl ipp tpp".split())
TESTS = re.compile(
    rb"(?:^|/)(?:tests?|testing|testsuite|unittests?)/"
    rb"|(?:^|/)(?:test[_-][^/]*|[^/]*[_-](?:test|tests|unittest)|tests?)\.[^./]+\Z"
)
WORD_BYTES = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$") | frozenset(range(128, 256))
CALL_FOLLOWS = rb"(?: ?[(/\\]|[\t\r\n]|  )"
WORD_ENDS = rb"[^0-9A-Za-z_]"


class Hit(NamedTuple):
    """A place where a rule fired."""

    pattern: str
    line: int
    confidence: float
    evidence: str


class Scan(NamedTuple):
    """What a file holds, by line and pattern; `problem` says why part of it was not checked."""

    hits: tuple[Hit, ...]
    problem: str | None


class Scanner:
    """The rules, compiled on first use for each language."""

    def __init__(self, engine: str | None = None) -> None:
        self._engine = engine
        self._languages: dict[str, _Language] = {}

    def scan(self, content: bytes, *, language: str, header: bool = False, test: bool = False) -> Scan:
        """`language` is "c/cpp" or "rust"."""
        if language not in self._languages:
            self._languages[language] = _Language(language, self._engine)
        if content[:3] in BYTE_ORDER_MARKS or content[:2] in BYTE_ORDER_MARKS or 0 in content[:HEAD_BYTES]:
            content = _as_utf8(content)
        names, problem = self._languages[language].names(content)
        if not names:
            return NOTHING if problem is None else Scan((), problem)
        needed = content[: names[-1].start + LOOK_AHEAD]
        text, end = mask(needed, language)
        if end < len(needed):
            line = content.count(b"\n", 0, end) + 1
            problem = f"too many comments and literals; checked only as far as line {line}"
        source = Source(content, text, header=header, test=test)
        return Scan(_hits(source, names), problem)


class _Name(NamedTuple):
    start: int
    name: bytes
    rules: tuple[Rule, ...]


class _Language:
    """What the rules of a language ask for, and the matcher for it."""

    def __init__(self, language: str, engine: str | None) -> None:
        rules = [rule for rule in RULES if rule.language == language]
        calls, words = _by_name(rules, "calls"), _by_name(rules, "words")
        self._rules = calls | words
        self._longest = max(map(len, self._rules))
        self._tails = [*_tails(calls), *_tails(words)]
        patterns = [
            *(re.escape(tail) + CALL_FOLLOWS for tail in _tails(calls)),
            *(re.escape(tail) + WORD_ENDS for tail in _tails(words)),
        ]
        self._matcher: Matcher = build(patterns, engine)

    def names(self, content: bytes) -> tuple[list[_Name], str | None]:
        """Return the names that a rule asks for, by offset, wherever they stand."""
        matches = self._matcher.find(content, MATCHES_MAX + 1)
        problem = None
        if len(matches) > MATCHES_MAX:
            line = content.count(b"\n", 0, matches.pop()[1]) + 1
            problem = f"more than {MATCHES_MAX} possible matches; checked only as far as line {line}"
        found = []
        for index, at in matches:
            end = at + len(self._tails[index])
            start = at
            floor = max(0, end - self._longest - 1)
            while start > floor and content[start - 1] in WORD_BYTES:
                start -= 1
            name = content[start:end]
            asked = self._rules.get(name, ())
            rules = tuple(rule for rule in asked if rule.dismisses is None or not rule.dismisses(name, content, end))
            if rules:
                found.append(_Name(start, name, rules))
        return found, problem


def language_of(name: bytes, extensions: Mapping[bytes, str] | None = None) -> str | None:
    """Return "c/cpp" or "rust" by the suffix (without its dot, as in EXTENSIONS), or None."""
    known = EXTENSIONS if extensions is None else extensions
    suffix = _suffix(name)
    return known.get(suffix) or known.get(suffix.lower())


def is_header(name: bytes) -> bool:
    return _suffix(name).lower() in HEADERS


def is_test(path: bytes) -> bool:
    """Tell test code by its directory or file name."""
    return TESTS.search(path) is not None


def _suffix(name: bytes) -> bytes:
    stem, _, suffix = name.rpartition(b"/")[2].rpartition(b".")
    return suffix if stem else b""


NOTHING = Scan((), None)
HEAD_BYTES = 64
LEAST_HEAD_BYTES = 32
WIDE_BY_NULS: Mapping[tuple[bool, ...], str] = {
    (False, True, False, True): "utf-16-le",
    (True, False, True, False): "utf-16-be",
    (False, True, True, True): "utf-32-le",
    (True, True, True, False): "utf-32-be",
}
BYTE_ORDER_MARKS = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}


def _as_utf8(content: bytes) -> bytes:
    if content[:3] == b"\xef\xbb\xbf":
        return content[3:]
    encoding = _wide_encoding(content)
    return content if encoding is None else content.decode(encoding, "replace").encode("utf-8", "replace")


def _wide_encoding(content: bytes) -> str | None:
    """Tell UTF-32 and UTF-16 by their mark or, without one, by where the NULs of ASCII text stand."""
    if content[:4] == b"\0\0\xfe\xff" or (content[:4] == b"\xff\xfe\0\0" and content[6:8] == b"\0\0"):
        return "utf-32"
    if content[:2] in BYTE_ORDER_MARKS:
        return "utf-16"
    head = content[: HEAD_BYTES - HEAD_BYTES % 4]
    nul = (
        [head[place::4].count(0) == len(head[place::4]) for place in range(4)] if len(head) >= LEAST_HEAD_BYTES else []
    )
    return WIDE_BY_NULS.get(tuple(nul))


def _by_name(rules: Iterable[Rule], kind: str) -> dict[bytes, tuple[Rule, ...]]:
    table: dict[bytes, tuple[Rule, ...]] = {}
    for rule in rules:
        for name in getattr(rule, kind):
            table[name.encode()] = (*table.get(name.encode(), ()), rule)
    return table


def _tails(names: Iterable[bytes]) -> list[bytes]:
    """Leave out every name that ends with another: `printf` finds `vsnprintf` too, and the rest is read to the left."""
    known = list(names)
    return [name for name in known if not any(name != other and name.endswith(other) for other in known)]


def _hits(source: Source, names: Iterable[_Name]) -> tuple[Hit, ...]:
    best: dict[tuple[int, str], tuple[float, int]] = {}
    looked: dict[tuple[int, str], int] = {}
    line, counted = 1, 0
    for found in names:
        if source.text[found.start] != source.content[found.start]:
            continue
        line += source.content.count(b"\n", counted, found.start)
        counted = found.start
        fresh = [rule for rule in found.rules if looked.get((line, rule.pattern), 0) < SITES_PER_LINE]
        site = _site(source, found) if fresh else None
        for rule in fresh:
            key = (line, rule.pattern)
            looked[key] = looked.get(key, 0) + 1
            confidence = _confidence(rule, site) if site else None
            if confidence is not None and confidence > best.get(key, (0.0, 0))[0]:
                best[key] = confidence, found.start
    return tuple(
        Hit(pattern, line, confidence, evidence(source.content, start))
        for (line, pattern), (confidence, start) in sorted(best.items())
    )


def _site(source: Source, found: _Name) -> Site | None:
    """Return where to look, or None where a function is declared, or one of the same name is called."""
    end = found.start + len(found.name)
    if not found.rules[0].calls:
        return Site(source, found.name, found.start, end)
    at = opening(source.text, end)
    if at is None or (found.rules[0].language == "c/cpp" and _is_no_call(source, found.start, at)):
        return None
    return Site(source, found.name, found.start, at)


def _confidence(rule: Rule, site: Site) -> float | None:
    moved = rule.check(site)
    if moved is None:
        return None
    return round(min(MOST, max(LEAST, rule.confidence + moved + (TEST_FILE if site.source.test else 0.0))), 2)


def _is_no_call(source: Source, start: int, at: int) -> bool:
    return is_foreign(source.text, start) or is_declaration(source.text, start, at, header=source.header)
