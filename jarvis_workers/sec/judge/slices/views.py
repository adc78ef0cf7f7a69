"""Two views of a file: the one that decides, and the one with the comments.

Neither has what `#if 0` leaves out, the words of `#error` and its like, or more of the prose in literals than its first
words; the one that decides has no comments.  What speaks to whoever reads the code is not there to be obeyed; format
letters, commands and short texts stay.  Both are as long as the file: what is left out is blank.
"""

import re
from collections.abc import Iterator, Sequence

from jarvis_workers.agent.untrusted_text import Guard
from jarvis_workers.source.lex import BLANK, LOGICAL_LINE, SPLICE, comments, mask
from jarvis_workers.tools.reading import blank_comments

__all__ = ["deciding_view", "view_with_comments"]

WORD = r"[^\W\d]{1,40}(?:['’-][^\W\d]{1,20})?[,.:;!?]{0,3}"
GAP = r"(?:\s|\\[ntr])+"
# So many words or letters in a row are prose; so many of them stay.
PROSE_WORDS, KEPT_WORDS = 6, 3
PROSE_LETTERS, KEPT_LETTERS = 8, 4
CJK = r"\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uac00-\ud7af"
# A letter, and what is not one: a name or a few marks between two.
LETTER = rf"[{CJK}][^{CJK}%\\]{{0,40}}"
# What follows prose goes with it, as far as a value is put in.
PROSE = (
    re.compile(
        rf"{WORD}(?:{GAP}{WORD}){{{KEPT_WORDS - 1}}}(?P<rest>(?:{GAP}{WORD}){{{PROSE_WORDS - KEPT_WORDS},}}[^%=']*)"
    ),
    re.compile(rf"(?:{LETTER}){{{KEPT_LETTERS}}}(?P<rest>(?:{LETTER}){{{PROSE_LETTERS - KEPT_LETTERS},}}[^%=']*)"),
)
# Of prose in several literals no word stays behind the first.
ANY_WORDS = (re.compile(rf"(?<![%\w.*-])(?P<rest>{WORD}(?:{GAP}{WORD})*)"), re.compile(rf"(?P<rest>[{CJK}]+)"))
LEFT_OUT = "[…]".encode()
LITERAL = re.compile(rb'"([^"]*)"')
PASTED = re.compile(rb'"[^"]*"(?>\s*+"[^"]*")*+')
SHORTEST_PROSE = 8
SPEAKS = rb"error|warning|ident|sccs|pragma[ \t]+(?:message|region|endregion|mark|GCC[ \t]+(?:error|warning))"
DIRECTIVE = re.compile(
    rb"^[ \t]*+#(?>[ \t]|" + SPLICE + rb")*+(?:" + SPEAKS + rb")\b(?P<words>" + LOGICAL_LINE + rb")", re.MULTILINE
)


def deciding_view(content: bytes, language: str) -> bytes:
    """Return the code of "c/cpp" or "rust" as it decides."""
    masked = mask(content, language).text
    text = bytearray(blank_comments(content, language))
    if language != "rust":
        _blank_dead(text, masked)
        for match in DIRECTIVE.finditer(masked):
            _blank(text, *match.span("words"))
    for start, end in _prose(bytes(text), masked):
        _leave_out(text, start, end)
    return bytes(text)


def view_with_comments(content: bytes, language: str) -> bytes:
    """Return the same, with the comments in their places."""
    text = bytearray(deciding_view(content, language))
    for start, end in comments(content, language):
        text[start:end] = content[start:end]
    return bytes(text)


def _blank_dead(text: bytearray, masked: bytes) -> None:
    """Blank the lines of which nothing is code: what the preprocessor leaves out, and the inside of raw literals."""
    at = 0
    for line in masked.split(b"\n"):
        end = at + len(line)
        if not line.strip():
            _blank(text, at, end)
        at = end + 1


def _prose(text: bytes, masked: bytes) -> Iterator[tuple[int, int]]:
    """Yield what is left out of literals."""
    groups = [group.span() for group in PASTED.finditer(masked)]
    obeyed = _gives_orders(b"\n".join(text[start:end] for start, end in groups))
    for start, end in groups:
        if end - start < SHORTEST_PROSE:
            continue
        spans = [one.span(1) for one in LITERAL.finditer(masked, start, end)]
        whole = b" ".join(text[first:last] for first, last in spans)
        if obeyed and _gives_orders(whole):
            yield from spans
        elif not _is_short(whole) and any(_rests(whole, PROSE)):
            for place, (first, last) in enumerate(spans):
                shapes = ANY_WORDS if place else PROSE
                yield from ((first + at, first + to) for at, to in _rests(text[first:last], shapes))


def _is_short(literal: bytes) -> bool:
    """Whether there cannot be prose in it: a quick look."""
    return literal.isascii() and len(literal.split()) + literal.count(b"\\") < PROSE_WORDS


def _rests(literal: bytes, shapes: Sequence[re.Pattern[str]]) -> Iterator[tuple[int, int]]:
    """Yield what of a literal goes on as prose."""
    said = literal.decode("utf-8", "surrogateescape")
    for shape in shapes:
        for found in shape.finditer(said):
            start, end = found.span("rest")
            yield _size(said[:start]), _size(said[:end])


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogateescape"))


def _gives_orders(text: bytes) -> bool:
    guard = Guard("")
    guard.admit(text.decode("utf-8", "replace"))
    return any(suspicion.level == "block" for suspicion in guard.suspicions)


def _leave_out(text: bytearray, start: int, end: int) -> None:
    _blank(text, start, end)
    told = start + len(LEFT_OUT)
    if told <= end and b"\n" not in text[start:told]:
        text[start:told] = LEFT_OUT


def _blank(text: bytearray, start: int, end: int) -> None:
    text[start:end] = text[start:end].translate(BLANK)
