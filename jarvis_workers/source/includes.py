"""Find the files that a source includes: C or C++, also as C++20 header units, or Rust; however it is written.

Spliced lines, comments, digraphs and trigraphs are read as a preprocessor reads them. Conditions are not evaluated, and
a directive of C in a comment counts: a name too many costs a look for a file, a name too few hides code. Most files are
read by one fast expression; only those with unusual forms are read in full.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from jarvis_workers.source.encoding import BYTE_ORDER_MARKS, HEAD_BYTES, as_utf8
from jarvis_workers.source.lex import comments

# More directives than this in one file are not read.
INCLUDES_MAX = 20_000
IMPORT = b"import"
KEYWORDS = (b"include", IMPORT)
BLANK = frozenset(b" \t\v\f")
LETTERS = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$")
# `#`, blanks, and the ends of comments and of the digraph and the trigraph of `#`.
BEFORE_KEYWORD = BLANK | frozenset(b"#/:=")
COMMENT, NEXT = re.compile(rb"[ \t\v\f]*+/\*"), re.compile(rb"_next(?![0-9A-Za-z_$])")
# What follows the keyword, but for comments; a macro ends its line or declaration, or has arguments or a comment.
NAMED = (
    rb'(?:_next)?(?:[ \t\v\f]*+"([^"\n]{1,1000})"|[ \t\v\f]*+<([^>\n]{1,1000})>'
    rb"|[ \t\v\f]++([A-Za-z_$][0-9A-Za-z_$]{0,999}+)(?=[ \t]*+(?:[\r\n(;]|/[/*]|\Z)))"
)
PLAIN = re.compile(NAMED)
# Without a group: `#` or the keyword with anything else behind it, which may be a comment or a spliced line.
USUAL = re.compile(rb"#[ \t]*+(?:(?:include|import)" + NAMED + rb"|include|import|[/\\\v\f])")
# Digraphs and trigraphs of `#`, and continuations without a blank, which may be the rest of a keyword: three searches,
# as one with alternatives takes four times as long.
UNUSUAL = tuple(map(re.compile, (rb"%:", rb"\?\?[=/]", rb"\\[ \t\v\f]*+\r?\n[a-z_]")))
QUOTED, MACRO, LONGEST = 1, 3, 1_100
TRIGRAPH_SPLICE = re.compile(rb"\?\?/[ \t\v\f]*+\r?\n")
SPLICE = re.compile(rb"\\[ \t\v\f]*+\r?\n")
NAME_MACRO = re.compile(
    rb'#[ \t]*+define[ \t]++([A-Za-z_$][0-9A-Za-z_$]*+)[ \t]++(?:"([^"\n]{1,1000})"|<([^>\n]{1,1000})>)'
)

# `include!("name")` and `#[path = "name"]`; `#[cfg_attr(target_os = "linux", path = "name")]`, after any condition; a
# macro in place of the name, or a parameter of one (`include!($file)`). Comments are blanked before.
RUST_NAME = rb"""(?:"((?>[^"\\]|\\.){1,1000}+)"|r(\#*+)"(.{1,1000}?)"\2|(\$\w{1,999}+|[A-Za-z_]\w{0,999}+(?=\s*+!)))"""
RUST_INCLUDE = re.compile(rb"(?:\binclude\s*+!\s*+[(\[{]|\#!?\s*+\[\s*+path\s*+=)\s*+" + RUST_NAME, re.DOTALL)
RUST_CONDITIONAL = re.compile(
    rb"""\#!?\s*+\[\s*+cfg_attr\s*+\((?>[^\]"]|"(?>[^"\\]|\\.){0,1000}+"){0,5000}+""", re.DOTALL
)
RUST_PATH = re.compile(rb",\s*+path\s*+=\s*+" + RUST_NAME, re.DOTALL)
RUST_LIKELY = re.compile(rb"\binclude\s*+[!/]|\bpath\s*+[=/]")
RUST_ESCAPE = re.compile(rb"\\x([0-7][0-9A-Fa-f])|\\u\{([0-9A-Fa-f_]{1,8})\}|\\(.)", re.DOTALL)


class IncludedName(NamedTuple):
    """The name in a directive: in quotes, in angle brackets, or of a macro that the file does not define as either."""

    name: bytes
    quoted: bool = False
    macro: bool = False


class IncludedNames(NamedTuple):
    """The different names that a file includes; `complete` is false if it has more than INCLUDES_MAX directives."""

    names: tuple[IncludedName, ...]
    complete: bool = True


def included_names(content: bytes) -> IncludedNames:
    """Return what the directives #include, #include_next and #import of a file, and `import` of header units name."""
    if content[:2] in BYTE_ORDER_MARKS or 0 in content[:HEAD_BYTES]:
        content = as_utf8(content)
    text = content
    directives = None if any(form.search(text) for form in UNUSUAL) else _usual_directives(text)
    if directives is None:
        text = _spliced(content)
        directives = list(islice(_directives(text), INCLUDES_MAX + 1))
    units = list(islice(_header_units(text), INCLUDES_MAX + 1))
    names = dict.fromkeys(_without_macros(text, dict.fromkeys(directives[:INCLUDES_MAX])))
    # A name that is no macro of the file is one of a module, which is no file.
    imported = _without_macros(text, dict.fromkeys(units[:INCLUDES_MAX]))
    names |= dict.fromkeys(one for one in imported if not one.macro)
    return IncludedNames(tuple(names), complete=max(len(directives), len(units)) <= INCLUDES_MAX)


def rust_included_names(content: bytes) -> IncludedNames:
    """Return what `include!` and the attribute `path` of a Rust source name; a macro such as `concat!` by its name."""
    if RUST_LIKELY.search(content) is None:
        return IncludedNames(())
    names: dict[IncludedName, None] = {}
    for found in islice(_rust_names(_without_comments(content)), INCLUDES_MAX + 1):
        escaped, _, raw, macro = found.groups()
        if macro:
            names[IncludedName(macro, macro=True)] = None
        else:
            names[IncludedName(raw or RUST_ESCAPE.sub(_unescaped, escaped), quoted=True)] = None
    return IncludedNames(tuple(names), complete=len(names) <= INCLUDES_MAX)


def _rust_names(content: bytes) -> Iterator[re.Match[bytes]]:
    yield from RUST_INCLUDE.finditer(content)
    for attribute in RUST_CONDITIONAL.finditer(content):
        yield from RUST_PATH.finditer(attribute[0])


def _without_comments(content: bytes) -> bytes:
    text = bytearray(content)
    for start, end in comments(content, "rust"):
        text[start:end] = b" " * (end - start)
    return bytes(text)


def _unescaped(escape: re.Match[bytes]) -> bytes:
    ascii_code, code, character = escape.groups()
    if character is not None:
        return b"" if character == b"\n" else character
    number = int(ascii_code or code.replace(b"_", b"") or b"0", 16)
    return chr(min(number, 0x10FFFF)).encode(errors="replace")


def _usual_directives(text: bytes) -> list[IncludedName] | None:
    """Return the directives, or None if one is not in the usual form; several times as fast as reading all forms."""
    result: list[IncludedName] = []
    for match in islice(USUAL.finditer(text), INCLUDES_MAX + 1):
        kind = match.lastindex
        if kind is None:
            return None
        result.append(IncludedName(match[kind], kind == QUOTED, kind == MACRO))
    return result


def _directives(text: bytes) -> Iterator[IncludedName]:
    for keyword in KEYWORDS:
        yield from _names_after(text, keyword, _starts_directive)


def _header_units(text: bytes) -> Iterator[IncludedName]:
    return _names_after(text, IMPORT, _starts_word)


def _names_after(text: bytes, keyword: bytes, starts: Callable[[bytes, int], bool]) -> Iterator[IncludedName]:
    at = text.find(keyword)
    while at >= 0:
        end = at + len(keyword)
        if starts(text, at):
            plain = PLAIN.match(text, end)
            if plain is not None:
                end, kind = plain.end(), plain.lastindex or 0
                yield IncludedName(plain[kind], kind == QUOTED, kind == MACRO)
            else:
                end, name = _after_comments(text, end)
                if name is not None:
                    yield name
        at = text.find(keyword, end)


def _starts_directive(text: bytes, at: int) -> bool:
    return text[at - 1] in BEFORE_KEYWORD and _is_directive(text, at)


def _starts_word(text: bytes, at: int) -> bool:
    return at == 0 or text[at - 1] not in LETTERS


def _spliced(content: bytes) -> bytes:
    """Join the lines that a backslash, or its trigraph, splices."""
    if TRIGRAPH_SPLICE.search(content):
        content = content.replace(b"??/", b"\\")
    if SPLICE.search(content):
        content = content.replace(b"\\\n", b"")
        return SPLICE.sub(b"", content) if SPLICE.search(content) else content
    return content


def _is_directive(text: bytes, end: int) -> bool:
    """Return whether `#` or its digraph ends at an offset, but for blanks and comments."""
    while end:
        last = text[end - 1]
        if last == ord("#"):
            return True
        if last in BLANK:
            end -= 1
        elif last == ord("/") and text[end - 2 : end] == b"*/":
            end = text.find(b"/*", text.rfind(b"*/", 0, end - 2) + 1, end - 2)
            if end < 0:
                return False
        else:
            return text.endswith((b"%:", b"??="), 0, end)
    return False


def _after_comments(text: bytes, at: int) -> tuple[int, IncludedName | None]:
    """Return the offset and the name behind a keyword and comments; no name if it is no keyword or has none."""
    keyword = NEXT.match(text, at)
    at = keyword.end() if keyword else at
    while comment := COMMENT.match(text, at):
        close = text.find(b"*/", comment.end())
        if close < 0:
            return len(text), None
        at = close + 2
        if (plain := PLAIN.match(b" " + text[at : at + LONGEST])) is not None:
            kind = plain.lastindex or 0
            return at + plain.end() - 1, IncludedName(plain[kind], kind == QUOTED, kind == MACRO)
    return at, None


def _without_macros(text: bytes, names: Iterable[IncludedName]) -> Iterator[IncludedName]:
    """Replace each macro that the file itself defines as a name by that name."""
    values: dict[bytes, list[IncludedName]] = {}
    names = list(names)
    if not any(one.macro for one in names):
        yield from names
        return
    for macro, quoted, angled in NAME_MACRO.findall(text):
        values.setdefault(macro, []).append(IncludedName(quoted or angled, quoted=bool(quoted)))
    for one in names:
        yield from values.get(one.name, (one,)) if one.macro else (one,)
