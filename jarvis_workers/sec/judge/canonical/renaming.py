"""Names for what a project names: `f1` a function, `v1` a variable, `T1` a type, `M1` a macro, `L1` a label.

`x1` is a function that it calls and does not define.

They are numbered in the order in which they are first shown, so that they say nothing about the rest of the project.
"""

import re
from posixpath import splitext
from typing import Literal

from jarvis_workers.source.languages import language_of

Kind = Literal["f", "x", "v", "T", "M", "L", "'l"]

# The object of a method of C++.
THIS = "v0"
RENAMED = re.compile(r"(?<!\w)(?:file\d{1,7}(?:\.[A-Za-z+]{1,5})?|[fxvTML]\d{1,7})(?!\w)")
# The directives of formats, and what has a meaning to shells, SQL, paths and parsers of formats.
SHAPE = re.compile(
    r"%[-+ #0]{0,5}(?:\*|\d{1,4})?(?:\.(?:\*|\d{1,4})?)?(?:hh|h|ll|l|j|z|t|L|q)?[diouxXeEfFgGaAcspnm%]"
    r"|%\[[^]]{0,40}\]|\\x[0-9a-fA-F]{1,8}|\\[0-7]{2,3}|\\[nrt0abfvxe\\\"']|\{[0-9:?#x.*$]{0,12}\}|[A-Za-z]+|[^\w\s]| "
)
ESCAPE = re.compile(r"\\(?:[uU]\{?([0-9a-fA-F]{1,8})\}?|x[0-9a-fA-F]{1,8}|[0-7]{1,3}|.)", re.DOTALL)
# The characters that scanf reads; assembler has names of operands in the same form.
SET = re.compile(r"^%\[(\^?)[^]]*[A-Za-z_]{2}[^]]*\]$")
TYPES = frozenset(("f16", "f32", "f64", "f128"))
# What stands for rare conversions, whose letters could spell a word: that of the same arguments, and the notation.
LIKE = {"i": "d:any", "o": "u:oct", **dict.fromkeys("xX", "u:hex"), "F": "f"}
LIKE |= {**dict.fromkeys("eE", "f:exp"), **dict.fromkeys("gG", "f:gen"), **dict.fromkeys("aA", "f:hex")}
SHAPE_MAX = 48
# Literals that are shown whole, and words within literals: modes of files, shells, statements of SQL, ciphers.
WHOLE = frozenset(
    ("r", "w", "a", "rb", "wb", "ab", "r+", "w+", "a+", "rb+", "wb+", "rt", "wt", "re", "we", "-c", ".", "..", "/", ",")
)
WORDS_SHOWN = """
sh bash cmd bin tmp dev null zero random urandom proc self etc usr env path home select insert update delete from where
values into drop table union http https ftp file md5 sha1 sha256 des rc4 aes ecb cbc
"""
WORDS = frozenset(WORDS_SHOWN.split())
LANGUAGE_SUFFIX = {"rust": ".rs", "c/cpp": ".c"}


class Renaming:
    """The names of one question, in both directions."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._originals: dict[str, str] = {THIS: "this"}
        self._numbers: dict[str, int] = {}
        self._literals: dict[str, int] = {}

    def name(self, word: str, kind: Kind) -> str:
        """Return the name that stands for a word; it keeps the kind of its first occurrence."""
        return self._name(f" {word}", kind, "", word)

    def path(self, path: str) -> str:
        """Return the name that stands for a path; its suffix is one of the language."""
        suffix = splitext(path)[1].lower()
        if suffix != ".h":
            language = language_of(path.encode("utf-8", "backslashreplace"))
            suffix = LANGUAGE_SUFFIX.get(language or "", ".c" if language else ".txt")
        return self._name(path, "file", suffix, path)

    def literal(self, text: str) -> str:
        """Return what is shown of a literal: its number, its length, format directives and special characters."""
        if text in WHOLE or not text:
            return f'"{text}"'
        number = self._literals.setdefault(text, len(self._literals) + 1)
        return " ".join(filter(None, [f'"s{number}', f"len={_length(text)}", _shape(text)])) + '"'

    def original(self, name: str) -> str | None:
        """Return the word or path that a name stands for."""
        return self._originals.get(name)

    def paths(self) -> list[str]:
        """Return the names of paths that were given so far."""
        return [name for name in self._originals if name.startswith("file")]

    def back(self, text: str) -> str:
        """Return a text with the original names."""
        return RENAMED.sub(lambda match: self._originals.get(match[0], match[0]), text)

    def _name(self, key: str, kind: str, suffix: str, original: str) -> str:
        if key not in self._names:
            number = self._numbers.get(kind, 0) + 1
            while f"{kind}{number}" in TYPES:
                number += 1
            self._numbers[kind] = number
            self._names[key] = f"{kind}{number}{suffix}"
            self._originals[self._names[key]] = original
        return self._names[key]


def _length(text: str) -> int:
    """Return the number of bytes that a literal has in memory, without the NUL; those of a raw one may be fewer."""
    return len(ESCAPE.sub(_in_memory, text).encode("utf-8", "surrogateescape"))


def _in_memory(escape: re.Match[str]) -> str:
    number = int(escape[1] or "0", 16)
    return chr(number) if 0 < number < 0xD800 or 0xE000 <= number <= 0x10FFFF else "_"


def _plain(word: str) -> str:
    """Return a directive or an escape in a form that all of its kind share, so that several do not spell a word."""
    if word.startswith("%") and word[-1:].isalpha():
        return word[:-1] + LIKE.get(word[-1], word[-1])
    # Quotes have a meaning to shells and SQL; a bare one would end the literal for whoever reads the view as code.
    if word in ('"', '\\"', "'", "\\'"):
        return "'" if "'" in word else '\\"'
    word = word.replace('"', "_").replace("'", "_")
    return "_" if word.startswith("\\") and word[1:] not in ("n", "0", "\\") else word


def _shape(text: str) -> str:
    shown, at = "", 0
    for match in SHAPE.finditer(text):
        word = _plain(SET.sub(r"%[\1_]", match[0]))
        is_shown = not word.isalpha() or word.lower() in WORDS
        if match.start() > at or not is_shown or word == "_":
            shown += "" if shown.endswith("_") else "_"
        if is_shown and word.isascii() and word != "_":
            shown += word
        at = match.end()
        if len(shown) > SHAPE_MAX:
            return shown[:SHAPE_MAX] + "…"
    if at < len(text) and not shown.endswith("_"):
        shown += "_"
    return shown if shown.strip("_ ") else ""
