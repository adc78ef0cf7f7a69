"""Mask comments and literals with spaces, so that rules can search the remaining code with simple patterns.

`mask` returns text of the same length: comments and the contents of string and character literals become spaces; quotes
and newlines stay. The text of a literal can be read from the original, between the quotes in the masked text. In C,
text disabled by `#if 0` is masked too, and an unclosed quote is masked to the end of its line, so that the remaining
double quotes always come in pairs. Digraphs and trigraphs, such as `<%` and `??<`, become what they stand for.
"""

import re
from collections.abc import Iterator
from itertools import chain, islice
from typing import NamedTuple

from jarvis_workers.source.c_tokens import BLANK, C_TOKEN, SPLICE
from jarvis_workers.source.grammar_files import c_text
from jarvis_workers.source.lazy_regex import lazy

LEXEMES_MAX = 3_000_000
SLASH, NEWLINE, BACKSLASH = 47, 10, 92
SPACE = b" \t\f\v\r"
RUST_TOKEN = lazy(
    rb"""
      "(?:(?:(?<=\br")|(?<=\b[bc]r"))[^"]*+(?:"|(?P<unclosed_raw>))
        |[^"\\]*+(?>\\.[^"\\]*+)*+(?:"|(?P<unclosed>)))
    | \#(?:(?<=\br\#)|(?<=\b[bc]r\#))(?P<hashes>\#*+)"
          [^"]*+(?>"(?!\#(?P=hashes))[^"]*+)*+(?:"\#(?P=hashes)|(?P<unclosed_hashes>))
    | '(?:[^\\'\n\x80-\xff]|[\xc0-\xff][\x80-\xbf]{1,3}|\\(?:u\{[0-9a-fA-F_]*+\}|[^\n][^'\n]{0,10}+))'
    | /(?:/[^\n]*+
        |\*[^*/]*+(?>(?:\*++(?!/)|/++(?!\*))[^*/]*+)*+(?:\*++/|\Z)
        |\*(?P<nested>))
    """,
    re.VERBOSE | re.DOTALL,
)
LONE_RETURN = lazy(rb"\r(?!\n)")
COMMENT_EDGE = lazy(rb"/\*|\*/")
BLANKS = rb"(?>[ \t]++|%b)*+" % SPLICE
LOGICAL_LINE = rb"(?>[^\\\n]++|\\(?>[ \t\f\v]*+\r?\n)?+)*+"
IF_ZERO = lazy(rb"#%bif(?>[ \t(]++|%b)++0" % (BLANKS, SPLICE))
DIRECTIVE = rb"[ \t]*+#%b(if(?:n?def)?|else|elif(?:n?def)?|endif)\b(%b)" % (BLANKS, LOGICAL_LINE)
FIRST_DIRECTIVE, NEXT_DIRECTIVE = lazy(DIRECTIVE), lazy(rb"\n" + DIRECTIVE)
NEVER = lazy(rb"%b\(?%b0[uUlL]*+%b\)?(?>\s++|%b)*+(?:\Z|&&)" % (BLANKS, BLANKS, BLANKS, SPLICE))
# The digraphs, and the trigraphs that are no part of a literal or comment (C11 6.4.6 and 5.2.1.1).
PUNCTUATORS = {
    b"<%": b"{", b"%>": b"}", b"<:": b"[", b":>": b"]", b"%:": b"#",
    b"??<": b"{", b"??>": b"}", b"??(": b"[", b"??)": b"]", b"??=": b"#", b"??!": b"|", b"??-": b"~",
}  # fmt: skip
SPELLED_BY = (b"<%", b"%>", b"<:", b":>", b"%:", b"??")
# In C++, `<::` begins with a `<`, unless a `:` or `>` follows.  `<%= name %>` is for a template engine, and `%:;` a
# mark of `grammar_files`.
SPELLING = lazy(rb"<%=[^\n<>]{0,200}%>|<%|%>|%:(?!;)|<:(?!:[^:>])|(?<!:):>|\?\?[<>()=!-]")


class Masked(NamedTuple):
    """Masked text, as long as the content; it is blank after `end`, where the lexer stopped."""

    text: bytes
    end: int


def compiler_newlines(content: bytes, language: str) -> bytes:
    """Return the content with each lone carriage return, which ends a line in C compilers, replaced by a newline.

    The length does not change. Rust is returned unchanged because rustc treats a lone carriage return as white space.
    """
    if language == "rust" or b"\r" not in content or content.count(b"\r") == content.count(b"\r\n"):
        return content
    return LONE_RETURN.sub(b"\n", content)


def is_spliced(text: bytes, newline: int) -> bool:
    """Return whether the newline at this offset is spliced: a backslash and optional white space precede it."""
    while newline > 0 and text[newline - 1] in SPACE:
        newline -= 1
    return newline > 0 and text[newline - 1] == BACKSLASH


def mask(content: bytes, language: str) -> Masked:
    """Mask comments and literals, and what is not C in "lex" or "yacc"; stop after LEXEMES_MAX of them."""
    if language == "rust":
        return _mask_rust(content)
    content = c_text(content, language)
    code, count = C_TOKEN.subn(_blanked, content, LEXEMES_MAX)
    if any(spelling in code for spelling in SPELLED_BY):
        code = SPELLING.sub(_punctuator, code)
    end = len(code)
    if count == LEXEMES_MAX:
        end, _ = _blank(content, bytearray(content), C_TOKEN, (0, LEXEMES_MAX))
    elif not IF_ZERO.search(code):
        return Masked(code, end)
    text = bytearray(code)
    if IF_ZERO.search(text):
        end = min(end, _blank_dead(text))
    return _finished(text, end)


def with_punctuators(content: bytes, text: bytes) -> bytes:
    """Return "c/cpp" content with the digraphs and trigraphs replaced that `mask` has replaced in its text."""
    if not any(spelling in content for spelling in SPELLED_BY):
        return content

    def in_code(spelling: re.Match[bytes]) -> bytes:
        punctuator = _punctuator(spelling)
        return punctuator if text.startswith(punctuator, spelling.start()) else spelling[0]

    return SPELLING.sub(in_code, content)


def _punctuator(spelling: re.Match[bytes]) -> bytes:
    return PUNCTUATORS.get(spelling[0], spelling[0]).ljust(len(spelling[0]))


def comments(content: bytes, language: str) -> Iterator[tuple[int, int]]:
    """Yield the span of each comment, up to the offset where `mask` stops."""
    content = c_text(content, language)
    token = RUST_TOKEN if language == "rust" else C_TOKEN
    at, left = 0, LEXEMES_MAX
    while at < len(content) and left > 0:
        start, at = at, len(content)
        for match in islice(token.finditer(content, start), left):
            left -= 1
            first, last = match.span()
            if match.lastgroup == "nested":
                at, left = _end_of_nested(content, (first, left))
                yield first, at
                break
            if content[first] == SLASH:
                yield first, last


def _mask_rust(content: bytes) -> Masked:
    if b"/*" not in content:
        code, count = RUST_TOKEN.subn(_blanked, content, LEXEMES_MAX)
        if count < LEXEMES_MAX:
            return Masked(code, len(code))
    text = bytearray(content)
    at, left = 0, LEXEMES_MAX
    while at < len(content) and left > 0:
        at, left = _blank(content, text, RUST_TOKEN, (at, left))
        if left > 0 and at < len(content):
            start, (at, left) = at, _end_of_nested(content, (at, left))
            text[start:at] = content[start:at].translate(BLANK)
    return _finished(text, at)


def _finished(text: bytearray, end: int) -> Masked:
    if end < len(text):
        text[end:] = text[end:].translate(BLANK)
    return Masked(bytes(text), end)


def _blank(content: bytes, text: bytearray, token: re.Pattern[bytes], position: tuple[int, int]) -> tuple[int, int]:
    """Mask up to a nested comment, the lexeme limit or the end; return the offset and the number of lexemes left."""
    start, left = position
    tokens = token.finditer(content, start)
    for _left, match in zip(range(left, 0, -1), tokens, strict=False):
        left = _left - 1
        if match.lastgroup == "nested":
            return match.start(), left
        text[match.start() : match.end()] = _blanked(match)
    more = next(tokens, None)
    return (len(content), left) if more is None else (more.start(), 0)


def _blanked(match: re.Match[bytes]) -> bytes:
    text = match[0]
    if text[0] == SLASH:
        return text.translate(BLANK)
    kind = match.lastgroup
    if kind is None or kind == "delimiter":
        inside = text[1:-1].translate(BLANK) if NEWLINE in text else b" " * (len(text) - 2)
        return text[:1] + inside + text[-1:]
    if kind == "hashes":
        edge = match.end("hashes") - match.start("hashes") + 2
        return text[:edge] + text[edge:-edge].translate(BLANK) + text[-edge:]
    return text.translate(BLANK)


def _end_of_nested(content: bytes, position: tuple[int, int]) -> tuple[int, int]:
    start, left = position
    depth = 0
    for edge in COMMENT_EDGE.finditer(content, start):
        depth += 1 if edge[0] == b"/*" else -1
        left -= 1
        if depth == 0:
            return edge.end(), left
        if left <= 0:
            return edge.end(), 0
    return len(content), left


def _blank_dead(text: bytearray) -> int:
    """Mask the parts disabled by `#if 0`; return the offset up to which directives were read."""
    before = bytes(text)
    end = len(before)
    for start, stop in _dead_parts(before):
        text[start:stop] = before[start:stop].translate(BLANK)
        end = stop if start == stop else end
    return end


def _dead_parts(text: bytes) -> Iterator[tuple[int, int]]:
    """Yield the parts disabled by `#if 0`; an empty span at the end means that the limit on directives was reached."""
    dead_from, depth = -1, 0
    first = FIRST_DIRECTIVE.match(text)
    for count, match in enumerate(chain((first,) if first else (), NEXT_DIRECTIVE.finditer(text))):
        word = match[1]
        if count > LEXEMES_MAX:
            yield match.start(), match.start()
            return
        if is_spliced(text, match.start()):
            continue
        if dead_from < 0:
            if word == b"if" and NEVER.match(match[2]):
                dead_from, depth = match.end(), 0
        elif word[:2] == b"if":
            depth += 1
        elif depth:
            depth -= word == b"endif"
        else:
            if dead_from < match.start():
                yield dead_from, match.start()
            dead_from = -1
    if 0 <= dead_from < len(text):
        yield dead_from, len(text)
