"""Comments for functions at the top level of Rust files: marks of duplicates, and placeholders for documentation."""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from jarvis_workers.source.lex import comments
from jarvis_workers.source.rust.rust_items import RustItem, read_items
from jarvis_workers.source.rust.rust_syntax import Patch, RustText, apply_patches

DUPLICATE = "TODO: duplicate of"
DOCUMENT = re.compile(rf"(?<!/)///(?!/)(?! {DUPLICATE})|/\*\*(?![*/])|#\[doc\b")
MODULE_DOCUMENT = re.compile(
    r"(?:\s|//(?!!)[^\n]*\n|/\*(?!!).*?\*/|#!?\[(?:[^][]|\[[^]]*\])*\])*(?://!|/\*!)", re.DOTALL
)
SHEBANG = re.compile(r"(?:\ufeff)?(?:#!(?!\s*\[)[^\n]*\n)?")
TEST = re.compile(r"#\[(?:\w+::)*test\b")
ATTRIBUTE = re.compile(r"[ \t]*#\[")
# Shorter functions, such as those that return a member, are alike by chance.
TOKENS_MIN = 30


class CommentedText(NamedTuple):
    """A text with comments, and their number."""

    text: str
    number: int


def tag_duplicates(texts: Mapping[str, str]) -> dict[str, CommentedText]:
    """Return the files with functions that another one, earlier in the order of files, equals except for its name."""
    first, found = dict[tuple[str, ...], str](), dict[str, CommentedText]()
    for file in sorted(texts):
        lines = dict[int, str]()
        for item in _functions(texts[file]):
            tokens = _tokens(item)
            earlier = first.setdefault(tokens, f"{item.name} ({file})")
            if earlier != f"{item.name} ({file})" and len(tokens) >= TOKENS_MIN and DUPLICATE not in _lead(item):
                lines[item.line] = f"/// {DUPLICATE} {earlier}"
        if lines:
            found[file] = CommentedText(_with_lines(texts[file], lines), len(lines))
    return found


def add_documentation(texts: Mapping[str, str]) -> dict[str, CommentedText]:
    """Return the files without documentation of the module or of functions, with placeholders; tests need none."""
    found = dict[str, CommentedText]()
    for file, text in texts.items():
        items = (one for one in _functions(text) if not DOCUMENT.search(_lead(one)) and not TEST.search(_lead(one)))
        lines = {item.line: f"/// TODO: describe `{item.name}`." for item in items}
        after, count = _with_lines(text, lines), len(lines)
        if text.strip() and not MODULE_DOCUMENT.match(after.removeprefix("\ufeff")):
            start = SHEBANG.match(after)
            at = start.end() if start else 0
            after, count = f"{after[:at]}//! TODO: describe this module.\n\n{after[at:]}", count + 1
        if count:
            found[file] = CommentedText(after, count)
    return found


def _functions(text: str) -> Iterator[RustItem]:
    return (item for item in read_items(text) if item.kind == "fn" and item.name)


def _lead(item: RustItem) -> str:
    return item.text[: len(item.text) - len(item.definition)]


def _tokens(item: RustItem) -> tuple[str, ...]:
    """Return the tokens of a function without its name, visibility and comments."""
    code = bytearray(item.definition.encode())
    for start, end in comments(bytes(code), "rust"):
        code[start:end] = b" " * (end - start)
    words = re.findall(r"\w+|\S", re.sub(r"^pub\s*(?:\([^)]*\))?", "", code.decode()))
    return tuple("_" if word == item.name else word for word in words)


def _with_lines(text: str, lines: Mapping[int, str]) -> str:
    """Return the text with comments above the functions of some lines, and above their attributes."""
    source, patches = RustText(text), []
    rows = text.split("\n")
    for line, comment in lines.items():
        row = line - 1
        while row > 0 and ATTRIBUTE.match(rows[row - 1]):
            row -= 1
        start = source.line_starts[row]
        space = source.indentation(start)
        end = "\r\n" if rows[row].endswith("\r") else "\n"
        patches.append(Patch(start, start, f"{space}{comment}{end}"))
    return apply_patches(text, patches)
