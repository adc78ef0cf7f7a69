"""The rules for Rust: unsafe, unwrap_expect and mem_transmute, and the context that softens them."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import cast

from jarvis_workers.sec.rules.rule import Site, Source

__all__ = ["check_transmute", "check_unsafe", "check_unwrap"]

LINES_ABOVE = 5
REACH = 2_048
BRACES_MAX = 500_000
SAFETY = re.compile(rb"[Ss]afety\b|SAFETY\b|\xe5\xae\x89\xe5\x85\xa8")
UNSAFE_CODE = re.compile(
    rb'\s*+(?:\{|\$|(?:async\s+|const\s+)?(?:extern\s*(?:"\s*"\s*)?)?(?:\{|fn\s+\w|mod\b)|(?:auto\s+)?trait\b)'
)
TEST_ATTRIBUTE = re.compile(
    rb"#!?\[\s*(?:(?:\w+\s*::\s*)*test\s*(?:\([^\])]*\)\s*)?\]|cfg\s*\(\s*(?:all\s*\(\s*)?test\b)|mod(?<!\wmod)\s+tests?\b"
)
BODY = re.compile(rb"[{;]")
BRACE = re.compile(rb"[{}]")
MESSAGE = re.compile(rb'\s*(?:&|concat!|[bc]?r?#*"|[A-Z][A-Z0-9_]+\s*\Z)')
CALLED = re.compile(rb"\s*+(?:::\s*+<[^;{}]{0,512}?>\s*+)?\(")
DEFINED = re.compile(rb"\bfn\s+\Z")
LOCKS = (b".lock().", b".read().", b".write().")


def check_unsafe(site: Site) -> float | None:
    """Code that the compiler does not vouch for; a type that merely says `unsafe fn`, or an impl, is none."""
    text = site.source.text
    if text[site.start - 1 : site.start] == b"#" or not UNSAFE_CODE.match(text, site.at, site.at + 256):
        return None
    return _softened(site)


def check_unwrap(site: Site) -> float | None:
    text = site.source.text
    if not text[max(0, site.start - 64) : site.start].rstrip().endswith(b"."):
        return None
    given = site.arguments
    if site.name == b"unwrap":
        if given.spans or given.end is None:
            return None
    elif not _takes_message(site):
        return None
    moved = -0.05 if b"".join(text[max(0, site.start - 64) : site.start].split()).endswith(LOCKS) else 0.0
    return moved + _in_tests(site)


def check_transmute(site: Site) -> float | None:
    text = site.source.text
    before = text[max(0, site.start - 64) : site.start]
    if not CALLED.match(text, site.at, site.at + 768) or before.rstrip().endswith(b".") or DEFINED.search(before):
        return None
    return _softened(site)


def _takes_message(site: Site) -> bool:
    """Parsers have an `expect` of their own; that of Option and Result takes one message and no `?` follows."""
    given = site.arguments
    if given.end is not None and (len(given.spans) != 1 or site.after(1) == b"?"):
        return False
    return MESSAGE.match(site.masked(0)) is not None


def _softened(site: Site) -> float:
    return (-0.2 if _is_explained(site) else 0.0) + _in_tests(site)


def _is_explained(site: Site) -> bool:
    """Look for a SAFETY comment (or its Chinese word) on this line, the one below, and the lines above."""
    content = site.source.content
    start, floor = site.start, max(0, site.start - REACH)
    for _ in range(LINES_ABOVE + 1):
        start = content.rfind(b"\n", floor, start)
        if start < 0:
            start = floor
            break
    end = site.at
    for _ in range(2):
        end = content.find(b"\n", end + 1, site.at + 512)
        if end < 0:
            end = site.at + 512
            break
    return any(_is_in_comment(site.source, match.start()) for match in SAFETY.finditer(content, start, end))


def _is_in_comment(source: Source, at: int) -> bool:
    """Tell a comment from code and from a string, whose closing quote would be the next thing to see."""
    return source.text[at : at + 1] == b" " and source.text[at : at + 512].lstrip()[:1] != b'"'


def _in_tests(site: Site) -> float:
    starts, ends = _test_ranges(site.source)
    number = bisect_right(starts, site.start) - 1
    return -0.15 if number >= 0 and site.start < ends[number] else 0.0


def _test_ranges(source: Source) -> tuple[list[int], list[int]]:
    if "tests" not in source.remembered:
        ranges = list(_ranges(source.text))
        source.remembered["tests"] = [start for start, _ in ranges], [end for _, end in ranges]
    return cast(tuple[list[int], list[int]], source.remembered["tests"])


def _ranges(text: bytes) -> Iterator[tuple[int, int]]:
    """Yield the items that a test attribute, or the name `tests`, marks."""
    at, left = 0, BRACES_MAX
    while left > 0 and (mark := TEST_ATTRIBUTE.search(text, at)):
        body = BODY.search(text, mark.end())
        if body is None:
            return
        at = body.end()
        if body[0] == b"{":
            depth = 0
            for brace in BRACE.finditer(text, body.start()):
                depth += 1 if brace[0] == b"{" else -1
                left -= 1
                at = brace.end()
                if depth == 0 or left <= 0:
                    break
        yield mark.start(), at
        left -= 1
