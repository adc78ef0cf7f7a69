"""Two views of a file: the deciding view, and the same with comments.

Both omit code disabled by `#if 0`, the text of `#error` and similar directives, and all but the first words of prose in
literals; the deciding view also omits comments.  This keeps text that addresses the reader from acting as an
instruction; format specifiers, commands and short texts remain.  Both views are as long as the file: omitted text is
blank.
"""

import re
from collections.abc import Iterator, Sequence

from jarvis_workers.agents.loop.untrusted_text import Guard
from jarvis_workers.agents.tools.reading import blank_comments
from jarvis_workers.source.c_tokens import BLANK, SPLICE
from jarvis_workers.source.grammar_files import GRAMMARS, c_text
from jarvis_workers.source.lex import LOGICAL_LINE, comments, mask

WORD = r"[^\W\d]{1,40}(?:['’-][^\W\d]{1,20})?[,.:;!?]{0,3}"
GAP = r"(?:\s|\\[ntr])+"
# Number of consecutive words or letters that count as prose, and how many of them remain.
PROSE_WORDS, KEPT_WORDS = 6, 3
PROSE_LETTERS, KEPT_LETTERS = 8, 4
CJK = r"\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uac00-\ud7af"
# A letter, with up to 40 other characters before the next one.
LETTER = rf"[{CJK}][^{CJK}%\\]{{0,40}}"
# Text after prose is omitted with it, up to the next inserted value.
PROSE = (
    re.compile(
        rf"{WORD}(?:{GAP}{WORD}){{{KEPT_WORDS - 1}}}(?P<rest>(?:{GAP}{WORD}){{{PROSE_WORDS - KEPT_WORDS},}}[^%=']*)"
    ),
    re.compile(rf"(?:{LETTER}){{{KEPT_LETTERS}}}(?P<rest>(?:{LETTER}){{{PROSE_LETTERS - KEPT_LETTERS},}}[^%=']*)"),
)
# If prose spans several literals, only words of the first one remain.
ANY_WORDS = (re.compile(rf"(?<![%\w.*-])(?P<rest>{WORD}(?:{GAP}{WORD})*)"), re.compile(rf"(?P<rest>[{CJK}]+)"))
LEFT_OUT = "[…]".encode()
LITERAL = re.compile(rb'"([^"]*)"')
GRAMMAR_LITERAL = re.compile(rb'"(?>[^"\\\n]|\\[^\n])*+"')
PASTED = re.compile(rb'"[^"]*"(?>\s*+"[^"]*")*+')
SHORTEST_PROSE = 8
SPEAKS = rb"error|warning|ident|sccs|pragma[ \t]+(?:message|region|endregion|mark|GCC[ \t]+(?:error|warning))"
DIRECTIVE = re.compile(
    rb"^[ \t]*+#(?>[ \t]|" + SPLICE + rb")*+(?:" + SPEAKS + rb")\b(?P<words>" + LOGICAL_LINE + rb")", re.MULTILINE
)


def deciding_view(content: bytes, language: str) -> bytes:
    """Return the deciding view of a file; the rules of a grammar are in it as they are."""
    masked = mask(content, language).text
    text = bytearray(blank_comments(content, language))
    if language != "rust":
        _blank_dead(text, blank_comments(c_text(content, language), language), masked)
        for match in DIRECTIVE.finditer(masked):
            _blank(text, *match.span("words"))
    for start, end in _prose(bytes(text), _with_quotes(masked, content, language)):
        _leave_out(text, start, end)
    return bytes(text)


def view_with_comments(content: bytes, language: str) -> bytes:
    """Return the deciding view with comments included."""
    text = bytearray(deciding_view(content, language))
    for start, end in comments(content, language):
        text[start:end] = content[start:end]
    return bytes(text)


def _blank_dead(text: bytearray, code: bytes, masked: bytes) -> None:
    """Blank the lines of code that are not compiled: what the preprocessor removes, and raw literals."""
    at = 0
    for written, line in zip(code.split(b"\n"), masked.split(b"\n"), strict=True):
        end = at + len(line)
        if written and not line.strip() and not written.isspace():
            _blank(text, at, end)
        at = end + 1


def _with_quotes(masked: bytes, content: bytes, language: str) -> bytes:
    """Return masked text with the quotes of the literals between the actions of a grammar."""
    if language not in GRAMMARS:
        return masked
    text, code = bytearray(masked), c_text(content, language)
    for literal in GRAMMAR_LITERAL.finditer(content):
        first, last = literal.span()
        if code[first:last].isspace():
            text[first] = text[last - 1] = ord('"')
    return bytes(text)


def _prose(text: bytes, masked: bytes) -> Iterator[tuple[int, int]]:
    """Yield the spans to omit from literals."""
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
    """Return whether a literal is too short to contain prose (a quick test)."""
    return literal.isascii() and len(literal.split()) + literal.count(b"\\") < PROSE_WORDS


def _rests(literal: bytes, shapes: Sequence[re.Pattern[str]]) -> Iterator[tuple[int, int]]:
    """Yield the byte spans of a literal that match the group "rest" of a pattern."""
    text = literal.decode("utf-8", "surrogateescape")
    for shape in shapes:
        for match in shape.finditer(text):
            start, end = match.span("rest")
            yield _size(text[:start]), _size(text[:end])


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogateescape"))


def _gives_orders(text: bytes) -> bool:
    guard = Guard("")
    guard.admit(text.decode("utf-8", "replace"))
    return any(suspicion.level == "block" for suspicion in guard.suspicions)


def _leave_out(text: bytearray, start: int, end: int) -> None:
    _blank(text, start, end)
    after = start + len(LEFT_OUT)
    if after <= end and b"\n" not in text[start:after]:
        text[start:after] = LEFT_OUT


def _blank(text: bytearray, start: int, end: int) -> None:
    text[start:end] = text[start:end].translate(BLANK)
