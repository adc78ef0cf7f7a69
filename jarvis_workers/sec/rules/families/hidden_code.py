"""Trojan Source: code that is displayed differently from how the compiler reads it.

There are three techniques: bidirectional control characters that reorder the display (CVE-2021-42574), a lone carriage
return, which ends a line for gcc and clang but overwrites it on a terminal, and a backslash-newline inside a name or a
comment delimiter.  Such places are also reported in comments and literals.
"""

from collections.abc import Iterator
from itertools import islice

from jarvis_workers.sec.rules.rule import Rule, Site, rule
from jarvis_workers.source.lazy_regex import lazy
from jarvis_workers.source.lex import LONE_RETURN, comments

# Only a comment follows, so that only prose can be hidden.
NO_CODE = -0.25
# Embeddings, overrides and isolates that are closed on their line may belong to right-to-left text.
PAIRED = -0.3
PLACES_MAX = 100
# U+202A to U+202E and U+2066 to U+2069, in UTF-8.
REORDERING = lazy(rb"\xe2(?:\x80[\xaa-\xae]|\x81[\xa6-\xa9])")
CLOSING = (b"\xe2\x80\xac", b"\xe2\x81\xa9")
# A pattern that begins with a literal byte is the fastest to search for.
SPLICED = lazy(rb"\\(?<=[\w/*]\\)[ \t\f\v]*+\r?\n(?=[\w/*])")
SLASH_AND_STAR = b"/*"


def find_places(raw: bytes) -> Iterator[int]:
    """Yield offsets where code may be hidden in an unmodified file, at most PLACES_MAX of each kind.

    An offset is at a control character, after a lone carriage return, or before a backslash.
    """
    if b"\xe2" in raw:
        yield from (match.start() for match in islice(REORDERING.finditer(raw), PLACES_MAX))
    # If all lines end with a carriage return, none is suspicious.
    if b"\n" in raw and raw.count(b"\r") != raw.count(b"\r\n"):
        places = (match.end() for match in LONE_RETURN.finditer(raw))
        yield from islice((at for at in places if raw[at : at + 1].strip(b"\r")), PLACES_MAX)
    if b"\\" in raw:
        splices = (match for match in SPLICED.finditer(raw) if _is_odd(raw, match.start(), match.end()))
        yield from (match.start() - 1 for match in islice(splices, PLACES_MAX))


def _is_odd(raw: bytes, start: int, end: int) -> bool:
    """Return whether a line splice is inside a name or a comment delimiter, not between two tokens."""
    before, behind = raw[start - 1 : start], raw[end : end + 1]
    if before in SLASH_AND_STAR:
        return behind in SLASH_AND_STAR and before + behind != b"**"
    return behind not in SLASH_AND_STAR


def check_hidden(site: Site) -> float | None:
    content, text, at = site.source.content, site.source.text, site.start
    if REORDERING.match(content, at):
        return PAIRED if _is_paired(_line(content, at)) else 0.0
    splice = SPLICED.match(content, at + 1)
    if splice is None:
        return 0.0 if _line(text, at).strip() else NO_CODE
    if content[at] not in SLASH_AND_STAR:
        return 0.0 if text[at] == content[at] else None
    edges = site.source.once("comment edges", lambda: _comment_edges(site))
    return 0.0 if at in edges or splice.end() + 1 in edges else None


def _line(content: bytes, at: int) -> bytes:
    """Return the line that contains an offset."""
    end = content.find(b"\n", at)
    return content[content.rfind(b"\n", 0, at) + 1 : end if end >= 0 else len(content)]


def _is_paired(line: bytes) -> bool:
    """Return whether a line closes, in order, each embedding, override and isolate that it opens."""
    depth = 0
    for match in REORDERING.finditer(line):
        depth += -1 if match[0] in CLOSING else 1
        if depth < 0:
            return False
    return depth == 0


def _comment_edges(site: Site) -> frozenset[int]:
    """Return the offsets at which the comments of the file begin and end."""
    spans = comments(site.source.content, site.source.language)
    return frozenset(edge for span in spans for edge in span)


RULES: tuple[Rule, ...] = (rule("trojan_source", check_hidden, places=find_places),)
