"""Declarations of variables visible at a site, and the values assigned to them.

The text is searched backwards from the site, within the function and for a bounded distance.  A block that ended before
the site may not have run, so a variable can have several values; an empty list means that nothing is known.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from jarvis_workers.sec.rules.rule import Site
from jarvis_workers.source.lazy_regex import lazy

FINDS_MAX, MENTIONS_MAX = 512, 48
VALUE_MAX, VALUES_MAX = 320, 6
LEFT = 160
GLOBALS_MAX = 16
BLOCKS_MAX = 24
NO_BRACES = bytes(byte for byte in range(256) if byte not in b"{}")
WORD = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
# Bytes that may precede a declared name, ignoring stars and spaces, and bytes between it and another name.
MAY_DECLARE, BESIDE = WORD | frozenset(b":>,"), b" \t\r\n\f\v*&"
JOINED, ARROW = WORD | frozenset(b"."), ord(">")
NAME = lazy(rb"[A-Za-z_]\w*+\Z")
# Bytes that may follow an assigned name; most mentions are followed by another byte.
MAY_GIVE = b" \t\r\n\f\v=+-*/%&|^<>"
NO_TYPES = frozenset(b"return else case goto sizeof in and or not throw delete new do co_return typedef using".split())
DIMENSIONS = lazy(rb"\s*+((?>\[(?>[^][;{}]++|\[[^][]*+\])*+\]\s*+)*+)(?=[=;,){:]|__attribute)")
DIMENSION = lazy(rb"\[((?>[^][]++|\[[^][]*+\])*+)\]")
TYPED = lazy(
    rb"""(?:\A|[;{}(,)]|\#[^\n]*+\n)\s*+
    ([A-Za-z_][\w:]*+(?>\s++[A-Za-z_][\w:]*+)*+(?:<[^<>;{}]{0,64}>)?)([\s*&]*+)\Z""",
    re.VERBOSE,
)
LISTED = lazy(rb"\s*+((?:[A-Za-z_]\w*+\s++)*[A-Za-z_]\w*+)[\s*]++[A-Za-z_]\w*+(?=\s*+[\[,=])[^()]*,([\s*]*+)\Z")
LATER = lazy(rb"\s*+(=(?!=)|\+\+|--|[-+*/%&|^]=|<<=|>>=)")
BRACKET = lazy(rb"[][(){},;]")
ALONE = lazy(rb"(?:\)|\belse|\bdo)\s*+\Z")
CAST = lazy(
    rb"\s*+(?:\(\s*+[A-Za-z_][\w\s]*+[\s*]*+\)(?=\s*+[\w(&])|(?:static|reinterpret|const)_cast\s*+<[^<>;]++>(?=\s*+\())"
)


class Declaration(NamedTuple):
    """A declaration: type words, number of stars, contents of the brackets, and offset of the name."""

    type: bytes
    stars: int
    dimensions: tuple[bytes, ...]
    at: int


class Assigned(NamedTuple):
    """A value assigned to a variable, in masked text; empty if the new value is unknown."""

    text: bytes
    at: int


class Scope:
    """The function around a site, up to the site; `depth` counts the calls between it and the function examined."""

    def __init__(self, site: Site, depth: int = 0) -> None:
        self.site = site
        self.text = site.source.text
        self.depth = depth
        function = site.function
        self.start = function.parameters[0] if function else site.start
        self._body, self._end = function.body if function else (site.start, site.start)
        self._declared: dict[bytes, Declaration | None] = {}
        self._values: dict[tuple[bytes, int], list[Assigned]] = {}

    def is_parameter(self, name: bytes) -> bool:
        declaration = self.declared(name)
        return declaration is not None and self.start <= declaration.at < self._body

    def is_pointer(self, name: bytes) -> bool:
        """Return whether a name is declared as a pointer; an array parameter is one too."""
        declaration = self.declared(name)
        return declaration is not None and (
            declaration.stars > 0 if not declaration.dimensions else self.is_parameter(name)
        )

    def declared(self, name: bytes) -> Declaration | None:
        """Return the last declaration of a name before the site; outside the function, only arrays are considered."""
        if name not in self._declared:
            end = self.site.start
            result = _visible(self.text, [one for one in self._declarations(name) if one.at < end], end)
            # in the branches of an `#if`, a name may have different declarations
            alike = len({bool(one.dimensions) for one in result}) == 1
            self._declared[name] = result[-1] if alike else self._global(name)
        return self._declared[name]

    def values(self, name: bytes, before: int | None = None) -> list[Assigned]:
        """Return the possible values of a variable: the last, and earlier ones if its block may not have run."""
        end = self.site.start if before is None else before
        if (name, end) not in self._values:
            self._values[name, end] = self._values_before(name, end)
        return self._values[name, end]

    def _values_before(self, name: bytes, end: int) -> list[Assigned]:
        result: list[Assigned] = []
        for at in self.mentions_before(name, end):
            value = self._value(name, at)
            if value is not None:
                result.append(value)
                if len(result) > VALUES_MAX:
                    return [Assigned(b"", at)]
                if _always_runs(self.text, at, end, self._body):
                    break
        return result

    def counts_on(self, name: bytes) -> bool:
        """Return whether a variable is incremented or decremented after the site, for example in a loop around it."""
        behind = (self._value(name, at) for at in self._mentions(name) if at > self.site.start)
        return any(value is not None and not value.text for value in behind)

    def mentions_before(self, name: bytes, end: int) -> Iterator[int]:
        return mentions_backwards(self.text, name, self._body, end)

    def occurrences(self, what: bytes, end: int) -> Iterator[int]:
        """Yield the offsets of a text in the file, except where it is the end of a longer name."""
        start = 0
        for _ in range(GLOBALS_MAX):
            start = self.text.find(what, start, end)
            if start < 0:
                return
            if start == 0 or self.text[start - 1] not in WORD:
                yield start
            start += len(what)

    def declaration_at(self, start: int, name: bytes, at: int) -> Declaration | None:
        """Parse the declaration of the name at `at`, whose type may begin at `start`."""
        before = self.text[start:at]
        if not _may_declare(before):
            return None
        brackets = DIMENSIONS.match(self.text, at + len(name), at + len(name) + 400)
        if brackets is None:
            return None
        typed = TYPED.search(before, 0 if b"#" in before else max(0, _last_edge(before)))
        if typed is None and before.rstrip(b" \t\r\n*")[-1:] == b",":
            typed = LISTED.match(before[_last_edge(before) + 1 :])
        if typed is None or not NO_TYPES.isdisjoint(typed[1].split()) or typed[1].endswith(b":"):
            return None
        return Declaration(typed[1], typed[2].count(b"*"), tuple(DIMENSION.findall(brackets[1])), at)

    def _declaration(self, name: bytes, at: int) -> Declaration | None:
        return self.declaration_at(max(self.start, at - LEFT), name, at)

    def _declarations(self, name: bytes) -> list[Declaration]:
        """Return all declarations of a name in the function; computed once for all sites in it."""
        cache: dict[tuple[int, bytes], list[Declaration]] = self.site.source.once("declared", dict)
        key = (self.start, name)
        if key not in cache:
            result = [self._declaration(name, at) for at in self._mentions(name)]
            cache[key] = [one for one in result if one]
        return cache[key]

    def _global(self, name: bytes) -> Declaration | None:
        for at in self.occurrences(name + b"[", self.start):
            line = self.text.rfind(b"\n", 0, at) + 1
            if self.text[line : line + 1] in b" \t\r#/" or at - line > LEFT:
                continue
            if declared := self.declaration_at(line, name, at):
                return declared
        return None

    def _mentions(self, name: bytes) -> Iterator[int]:
        at, left = self.start, MENTIONS_MAX
        for _ in range(FINDS_MAX):
            at = self.text.find(name, at, self._end)
            if at < 0 or left == 0:
                return
            if _is_whole(self.text, at, at + len(name)):
                left -= 1
                yield at
            at += len(name)

    def _value(self, name: bytes, at: int) -> Assigned | None:
        """Return the value that a mention assigns to the variable, if any."""
        behind = at + len(name)
        later = LATER.match(self.text, behind, behind + 64) if self.text[behind : behind + 1] in MAY_GIVE else None
        if later:
            if later[1] != b"=":
                return Assigned(b"", at)
            starred = self.text[max(0, at - 8) : at].rstrip().endswith(b"*")
            if starred and self._declaration(name, at) is None:
                return None
            return Assigned(value_at(self.text, later.end()), at)
        before = self.text[max(0, at - 2) : at]
        within = self.text.startswith((b"[", b"->"), behind)
        changed = before in (b"++", b"--") or (before[-1:] == b"&" and before != b"&&" and not within)
        return Assigned(b"", at) if changed else None


def _visible(text: bytes, declarations: list[Declaration], end: int) -> list[Declaration]:
    """Return those of different declarations whose block is still open at `end`; all if none is."""
    if len({one[:3] for one in declarations}) < 2:
        return declarations
    return [one for one in declarations if not _is_closed(_braces(text, one.at, end))] or declarations


def _may_declare(before: bytes) -> bool:
    """Return whether the text before a name may belong to a declaration (a quick test that rejects most mentions)."""
    rest = before.rstrip(BESIDE)
    return bool(rest) and rest[-1] in MAY_DECLARE and rest.rsplit(None, 1)[-1] not in NO_TYPES


def _always_runs(text: bytes, at: int, end: int, floor: int) -> bool:
    """Return whether the code at `at` has run whenever `end` is reached: its block is open and is not a branch."""
    if _is_closed(_braces(text, at, end)):
        return False
    before = text[max(floor, at - LEFT) : at]
    return not ALONE.search(before[_last_edge(before) + 1 :].rstrip(b" \t\r\n*"))


def _braces(text: bytes, at: int, end: int) -> bytes:
    """Return the braces without those of blocks that begin and end there."""
    braces = text[at:end].translate(None, NO_BRACES)
    for _ in range(BLOCKS_MAX):
        shorter = braces.replace(b"{}", b"")
        if shorter == braces:
            break
        braces = shorter
    return braces


def _is_closed(braces: bytes) -> bool:
    """Return whether the block ended in which the text of these braces begins."""
    return braces.startswith(b"}")


def _last_edge(before: bytes) -> int:
    """Return the offset at which the last statement ended or the last block began or ended, or -1."""
    return max(before.rfind(b";"), before.rfind(b"{"), before.rfind(b"}"))


def mentions_backwards(text: bytes, name: bytes, floor: int, end: int) -> Iterator[int]:
    """Yield the offsets of a variable before `end`, in reverse order."""
    left = MENTIONS_MAX
    for _ in range(FINDS_MAX):
        end = text.rfind(name, floor, end)
        if end < 0 or left == 0:
            return
        if _is_whole(text, end, end + len(name)):
            left -= 1
            yield end


def value_at(text: bytes, at: int) -> bytes:
    """Return the text after an `=` or `(`, up to the `;`, `,` or `)` that ends it."""
    depth = 0
    for match in BRACKET.finditer(text, at, at + VALUE_MAX):
        mark = match[0]
        if mark in b"([{":
            depth += 1
        elif mark in b")]}":
            depth -= 1
        if depth < 0 or (depth == 0 and mark in b",;"):
            return text[at : match.start()].strip()
    return b""


def bare(expression: bytes) -> bytes:
    """Remove casts and outer parentheses from an expression."""
    expression = expression.strip()
    for _ in range(4):
        if cast := CAST.match(expression):
            expression = expression[cast.end() :].strip()
        elif expression[:1] == b"(" and len(value_at(expression, 1)) == len(expression[1:-1].strip()):
            expression = expression[1:-1].strip()
        else:
            break
    return expression


def _is_whole(text: bytes, at: int, behind: int) -> bool:
    if behind < len(text) and text[behind] in WORD:
        return False
    if at == 0:
        return True
    left = text[at - 1]
    return left not in JOINED and (left != ARROW or not text.endswith(b"->", 0, at))
