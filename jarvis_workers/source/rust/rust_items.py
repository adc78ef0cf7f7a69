"""The items at the top level of a Rust file, read without a parser: their kinds, names and texts.

Comments and attributes belong to the item that follows.  Text without a complete item, such as after an unclosed brace,
is an item of the kind "text".
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from jarvis_workers.source.lex import mask

NAMED = re.compile(r"\b(fn|static|const|struct|enum|union|trait|type|mod|impl|use|macro_rules|extern)\b")
FUNCTION = re.compile(r"\bfn\s+((?:r#)?\w+)")
VALUE = re.compile(r"(?:pub\s+)?(?:static|const)\s+(?:mut\s+)?\w+\s*:")
NAME = re.compile(r"!?\s*(?:mut\s+)?((?:r#)?\w+)?")
LEAD = re.compile(r"(?:\s|#!?\[(?:[^][]|\[[^]]*\])*\])*")
BRACKET = re.compile(r"[][(){};=]")
# Items that end at a semicolon even if they contain braces.
WITH_SEMICOLON = ("static", "const", "type", "use")
EXPORT = re.compile(r'^#\[(?:unsafe\()?(?:no_mangle|export_name = "[^"\n]*")\)?\]\n', re.MULTILINE)
INNER_DOCUMENT = re.compile(r"(?:\s*(?://![^\n]*\n|#!\[[^\]]*\]))+")


class RustItem(NamedTuple):
    """An item; `line` is the line, from 1, of its first word after comments and attributes."""

    kind: str
    name: str
    text: str
    line: int

    @property
    def definition(self) -> str:
        """The text without the comments and attributes before it."""
        return self.text[_lead(masked(self.text)) :]


def masked(text: str) -> str:
    """Return the text with comments and the contents of literals blanked; its length does not change."""
    return mask(_ascii(text), "rust").text.decode()


def read_items(text: str) -> Iterator[RustItem]:
    """Yield the items of a file in order."""
    code, start = masked(text), _after_document(text)
    while start < len(code):
        head, end = _extent(code, start)
        piece = text[start:end]
        if code[start:end].strip():
            kind, name = _named(head)
            first = start + _lead(code[start:end])
            yield RustItem(kind, name, piece.strip(), text.count("\n", 0, first) + 1)
        start = end


def _lead(code: str) -> int:
    found = LEAD.match(code)
    return found.end() if found else 0


def _ascii(text: str) -> bytes:
    """Return one byte per character, so that offsets do not change."""
    return text.encode("ascii", "replace")


def _after_document(text: str) -> int:
    found = INNER_DOCUMENT.match(text)
    return found.end() if found else 0


def _extent(code: str, start: int) -> tuple[str, int]:
    """Return the head of an item, up to its body or value, and the offset of its end."""
    depth, head, closes = 0, -1, False
    for match in BRACKET.finditer(code, start):
        word = match[0]
        if word in "=;{" and depth == 0 and head < 0:
            head = match.start()
            closes = _ends_at_brace(code[start:head])
        if word in "([{":
            depth += 1
        elif word in ")]}":
            depth -= 1
        if depth == 0 and head >= 0 and (word == ";" or (word == "}" and closes)):
            return code[start:head], match.end()
        if depth < 0:
            break
    return "", len(code)


def _ends_at_brace(head: str) -> bool:
    return _named(head)[0] not in WITH_SEMICOLON


def _named(head: str) -> tuple[str, str]:
    code = head[_lead(head) :]
    found = NAMED.search(code)
    if found is None:
        return "text", ""
    if (function := FUNCTION.search(code)) and not VALUE.match(code):
        return "fn", function[1]
    name = NAME.match(code, found.end())
    return found[1], (name[1] or "") if name else ""
