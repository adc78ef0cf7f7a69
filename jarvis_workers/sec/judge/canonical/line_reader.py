"""What stands on the lines of a file: code as it is, names of the project, and literals."""

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from string import hexdigits
from typing import NamedTuple

from jarvis_workers.sec.judge.canonical.library_names import MEMBER, QUALIFIED, is_header, is_library_name, is_word
from jarvis_workers.sec.judge.canonical.renaming import THIS, Kind
from jarvis_workers.sec.judge.slices import CodeIndex, SourceFile

TOKEN = re.compile(
    rb"""(?P<literal>"[^"]*")|(?P<char>'[ ]{1,16}')|(?P<lifetime>'[A-Za-z_]\w*+)
    |(?P<header>(?<=include)[ \t]*+<[^<>\n]{1,200}>)
    |(?P<name>[A-Za-z_$\x80-\xff][\w$\x80-\xff]*+)|(?P<number>\.?\d(?>[eEpP][+-](?=\d)|\w|\.(?=\d)|\.(?=[fFlLeE]\b)|\.(?![.\w]))*+)""",
    re.VERBOSE,
)
# So many characters near each other may spell a text, too.
NEAR, SPELT = 120, 5
# Numbers and characters that may spell a text, in a row.
CODES = re.compile(
    rb"""(?:(?:0[xX][0-9a-fA-F]{1,2}|\d{1,3}|'[ ]{1,4}')\s{0,80}+,\s{0,80}+){7,}(?:\d|'|)
    |(?:'[ ]{1,4}'\s{0,80}+,\s{0,80}+){3,}'""",
    re.VERBOSE,
)
# To a preprocessor, `0any_words` is a number.
NUMBER = re.compile(
    rb"""(?:0[xX][0-9a-fA-F_.]{1,40}(?:[pP][+-]?\d{1,6})?|0[bBo][0-7_]{1,80}
    |(?:\d[\d_]{0,40}\.?|\.\d)[\d_]{0,40}(?:[eE][+-]?\d{1,6})?)
    (?:[uUlLzZfF]{0,4}|_?[iuf](?:8|16|32|64|128|size))""",
    re.VERBOSE,
)
# A character constant: one character, its number, or an escape; others hold several.
CHARACTER = re.compile(r"\\?[^\\]|\\(?:[0-7]{1,3}|x[0-9a-fA-F]{1,2}|\\)")
HEX = re.compile(r"0[xX]")
SPELLS = re.compile(r"(?![fF]+(?![a-fA-F]))[a-fA-F]{3}|[a-fA-F]\d[a-fA-F]")
# Words of C and C++ that a sign or a number stands for as well: with names of the library they could make a sentence.
SIGNS = {
    **{"false": "0", "true": "1", "this": THIS, "not": "!", "and": "&&", "or": "||", "xor": "^", "compl": "~"},
    **{"bitand": "&", "bitor": "|", "not_eq": "!=", "and_eq": "&=", "or_eq": "|=", "xor_eq": "^="},
}
PREFIXES = frozenset(("L", "u", "U", "u8", "R", "LR", "uR", "UR", "u8R", "b", "r", "br", "c", "cr"))
TYPE_BEFORE = re.compile(rb"\b(?:struct|union|enum|class|trait|typename|impl|dyn|new|as)\Z")
DEFINING = re.compile(rb"#[ \t]*(?:define|undef|ifdef|ifndef)\Z")
PRAGMA = re.compile(rb"#[ \t]*(?:pragma|error|warning|ident)\b[^\n]*\Z")
AROUND = 80
CPP = re.compile(rb"\bstd::|\bnamespace\b|\btemplate\s*<|\bclass\s+\w+\s*[{:;]")
NO_TYPE = re.compile(rb"\b(?:return|else|goto|case|sizeof|in|throw|delete|struct|union|enum)[ \t*&]*\Z")
# What follows a declarator.
DECLARATOR = re.compile(rb"[;,=\[)]|:(?!:)")
# Names where they are defined: in Rust, of types, of pointers to functions; of functions, and of constants in a list.
DEFINITIONS = re.compile(
    rb"\b(?:fn|struct|enum|union|trait|class|type|namespace|concept|mod|macro_rules!)\s+([A-Za-z_]\w*+)\s*+(?=[<({:;=]|where\b)"
    rb"|\(\s*+\*\s*+(?:const\s++)?([A-Za-z_]\w*+)\s*+\)\s*+\("
    rb"|#[ \t]*+define[ \t]++([A-Za-z_]\w*+)"
    rb"|\b([A-Za-z_]\w*+)\s*+\([^;{}()]{0,400}\)\s*+(?:const\s*+)?(?:noexcept\s*+)?(?:->[^;{}]{0,80})?\{"
)
NO_FUNCTION = frozenset((b"if", b"while", b"for", b"switch", b"catch", b"match", b"return", b"sizeof"))
LISTED = re.compile(rb"\benum\b[^;{}()]{0,80}\{([^{}]{0,20000})\}")
CONSTANT = re.compile(rb"(?:\A|,)\s*+([A-Za-z_]\w*+)")


class Name(NamedTuple):
    word: str
    kind: Kind


class Literal(NamedTuple):
    text: str


# What stands on a line: code as it is, a name, or a literal.
Piece = str | Name | Literal


class LineReader:
    """Reads the lines of a file; `index` tells which names of a library the project defines itself."""

    def __init__(self, file: SourceFile, index: CodeIndex) -> None:
        self._file, self._index = file, index
        self._own: dict[bytes, bool] = {}

    def lines(self) -> Iterator[list[Piece]]:
        """Yield the pieces of each line."""
        masked = self._file.masked
        coded = [match.span() for match in CODES.finditer(masked)]
        line: list[Piece] = []
        at = 0
        for token in TOKEN.finditer(masked):
            yield from self._code(masked[at : token.start()], line)
            at = token.end()
            line.append(self._piece(token, coded))
            for _ in range(token[0].count(b"\n")):
                yield [*line]
                line.clear()
        yield from self._code(masked[at:], line)
        yield line

    @staticmethod
    def _code(text: bytes, line: list[Piece]) -> Iterator[list[Piece]]:
        first, *others = text.decode("utf-8", "backslashreplace").split("\n")
        line.append(first)
        for other in others:
            yield [*line]
            line[:] = [other]

    def _piece(self, token: re.Match[bytes], coded: Sequence[tuple[int, int]]) -> Piece:
        start, end = token.span()
        if token["literal"] is not None or token["char"] is not None:
            text = self._file.content[start + 1 : end - 1].decode("utf-8", "backslashreplace")
            if token["char"] is None:
                return Literal(text)
            letters = text.lstrip("\\")
            is_spelled = any(first <= start < last for first, last in coded) or len(letters) > 1
            if self._file.masked.count(b"' '", max(0, start - NEAR), end + NEAR) > SPELT and letters.isalpha():
                is_spelled = True
            is_read = (is_spelled and letters.isalnum()) or not CHARACTER.fullmatch(text)
            return "'_'" if is_read or not text.isascii() else f"'{text}'"
        if token["number"] is not None:
            is_spelled = any(first <= start < last for first, last in coded) or not NUMBER.fullmatch(token[0])
            return "N" if is_spelled else _number(token[0].decode("ascii"))
        if token["header"] is not None:
            name = token[0].strip(b" \t<>").decode("utf-8", "replace")
            return f" <{name}>" if is_header(name) else " <…>"
        if token["lifetime"] is not None:
            return "'static" if token[0] == b"'static" else Name(token[0].decode("ascii"), "'l")
        return self._word(token)

    def _word(self, token: re.Match[bytes]) -> Piece:
        masked, (start, end) = self._file.masked, token.span()
        word = token[0].decode("utf-8", "backslashreplace")
        before, after = masked[max(0, start - AROUND) : start].rstrip(b" \t"), masked[end : end + AROUND].lstrip(b" \t")
        if PRAGMA.search(before):
            return Name(word, "v")
        if word in SIGNS and self._file.language != "rust" and not self._is_own(word, before):
            return SIGNS[word]
        is_prefix = word in PREFIXES and masked[end : end + 1] in (b'"', b"'", b"#")
        if is_prefix or is_word(word, self._file.language, before):
            return word
        is_library = is_library_name(word, self._file.language, before, after, is_cpp=self._is_cpp)
        if is_library and not self._is_own(word, before):
            return word
        kind = _kind(word, before, after)
        return Name(word, "x" if kind == "f" and not self._is_called_here(word) else kind)

    def _is_called_here(self, word: str) -> bool:
        """Return whether a called name is one of the project: a function, a macro, or a variable."""
        return self._is_defined(word.encode("utf-8", "backslashreplace"))

    def _is_own(self, word: str, before: bytes) -> bool:
        """Return whether the project defines a name of a library itself."""
        if word.encode() in self._definitions:
            return True
        if self._file.language == "rust" or before.endswith((*MEMBER, *QUALIFIED)):
            return False
        if TYPE_BEFORE.search(before):
            return bool(self._index.meanings(word.encode(), self._file.path))
        return self._is_defined(word.encode())

    def _is_defined(self, word: bytes) -> bool:
        """Return whether the project defines a name, or declares a variable of that name in this file."""
        if word not in self._own:
            path = self._file.path
            found = self._index.definition(word, path) or self._index.meanings(word, path)
            self._own[word] = bool(found) or word in self._definitions or self._is_declared(word)
        return self._own[word]

    def _is_declared(self, word: bytes) -> bool:
        masked = self._file.masked
        for found in re.finditer(rb"(?<![\w$])" + re.escape(word) + rb"(?![\w$])", masked):
            start, end = found.span()
            before = masked[max(0, start - AROUND) : start]
            kind = before.rstrip(b" \t*&")
            if len(kind) < len(before) and (kind[-1:].isalnum() or kind.endswith((b"_", b">"))):
                after = masked[end : end + AROUND].lstrip(b" \t")
                if DECLARATOR.match(after) and not NO_TYPE.search(before):
                    return True
        return False

    @cached_property
    def _definitions(self) -> frozenset[bytes]:
        """The names that the file defines in another way than as a variable."""
        masked = self._file.masked
        found = {next(filter(None, one.groups())) for one in DEFINITIONS.finditer(masked)}
        listed = {one[1] for some in LISTED.finditer(masked) for one in CONSTANT.finditer(some[1])}
        return frozenset((found | listed) - NO_FUNCTION)

    @cached_property
    def _is_cpp(self) -> bool:
        return CPP.search(self._file.masked) is not None


def _number(text: str) -> str:
    """Return a number; a hexadecimal one whose digits could be read is decimal."""
    if not HEX.match(text) or not SPELLS.search(text, 2):
        return text
    digits = text[2:].rstrip("uUlLzZ").replace("_", "")
    return str(int(digits, 16)) if digits and not set(digits.lower()) - set(hexdigits) else "N"


def _kind(word: str, before: bytes, after: bytes) -> Kind:
    if DEFINING.search(before) or (len(word) > 1 and word.isupper()):
        return "M"
    if TYPE_BEFORE.search(before) or word.endswith("_t") or (word[:1].isupper() and not word.isupper()):
        return "T"
    if after.startswith(b"("):
        return "f"
    if before.endswith(b"goto") or (after.startswith(b":") and before.endswith((b"\n", b"}", b";", b"{"))):
        return "L"
    return "v"
