"""read_code: numbered lines of a file, verbatim or with comments blanked.

Blanking preserves line numbers and columns. A comment is its author's claim, not a fact about the code, so comments are
listed separately and only on request.
"""

import re
from collections.abc import Iterable
from itertools import takewhile
from typing import Literal

from pydantic import Field

from jarvis_workers.agents.tools.listing import Tree
from jarvis_workers.agents.tools.tool import Tool, ToolArguments, ToolFailed, ToolOutcome, typed
from jarvis_workers.source.c_tokens import BLANK
from jarvis_workers.source.languages import EXTENSIONS, language_of
from jarvis_workers.source.lex import comments, compiler_newlines

MOST_LINES = 400
MOST_CHARACTERS = 12_000
LONGEST_LINE = 600
CODE_SUFFIXES = tuple(f".{suffix.decode().lower()}" for suffix in EXTENSIONS)
DESCRIPTION = f"Read lines of a file of the project. Lines are numbered; at most {MOST_LINES} at a time."
BLANKED = " Comments are omitted; with comments=true they are listed separately: they are claims, not facts."

# Blanks that stand for what is left out of a literal (`slices.views`).
PADDING = re.compile(r"(?<=…\])\s{2,}")

View = Literal["raw", "blanked"]


class ReadCode(ToolArguments):
    """A range of lines of a file; -1 is the last line."""

    path: str = Field(min_length=1, max_length=4096, description="from the project root")
    start_line: int = Field(default=1, ge=1)
    end_line: int = Field(default=-1, ge=-1, description="-1: the last")
    comments: bool = Field(default=False, description="list comments too")


def read_code(tree: Tree, view: View = "raw") -> Tool:
    """Return the read_code tool for a tree."""

    def run(arguments: ReadCode) -> ToolOutcome:
        content = code_text(arguments.path, tree.read(arguments.path))
        spans = _comments(content, arguments) if view == "blanked" else []
        lines = _blank(content, spans).decode("utf-8", "backslashreplace").split("\n")
        if lines[-1] == "" and len(lines) > 1:
            lines.pop()
        shown = _numbered(arguments, lines, compact=view == "blanked")
        return ToolOutcome(stdout=shown + _claims(content, spans, arguments) if arguments.comments else shown)

    description = DESCRIPTION + (BLANKED if view == "blanked" else "")
    return typed(
        ReadCode, run, name="read_code", description=description, brings_foreign=True, reads_only=True, quick=True
    )


def code_text(path: str, content: bytes) -> bytes:
    """Return the content with its line ends normalized as compilers of its language do; other files are unchanged."""
    is_code = path.lower().endswith(CODE_SUFFIXES)
    return compiler_newlines(content, _language(path)) if is_code else content


def blank_comments(content: bytes, language: str) -> bytes:
    """Return the content with comments replaced by spaces; length and line numbers do not change."""
    return _blank(content, comments(content, language))


def _comments(content: bytes, arguments: ReadCode) -> list[tuple[int, int]]:
    """Return the spans of the comments, up to the last requested line."""
    path = arguments.path.lower()
    if not path.endswith(CODE_SUFFIXES):
        return []
    last = arguments.end_line if arguments.end_line != -1 else arguments.start_line + MOST_LINES
    end = len(b"\n".join(content.split(b"\n", last)[:last]))
    return list(takewhile(lambda span: span[0] < end, comments(content, _language(path))))


def _language(path: str) -> str:
    return language_of(path.encode("utf-8", "backslashreplace")) or "c/cpp"


def _blank(content: bytes, spans: Iterable[tuple[int, int]]) -> bytes:
    text = bytearray(content)
    for start, end in spans:
        text[start:end] = content[start:end].translate(BLANK)
    return bytes(text)


def _numbered(arguments: ReadCode, lines: list[str], *, compact: bool) -> str:
    """Return the requested lines with their numbers; if compact, without blank ones and padding."""
    first, last = _range(arguments, len(lines))
    shown: list[str] = []
    room = MOST_CHARACTERS
    for number in range(first, last + 1):
        text = short_line(lines[number - 1])
        line = f"{number}| {PADDING.sub('', text)}".rstrip() if compact else f"{number:>5}| {text}".rstrip()
        room -= len(line) + 1 if text.strip() or not compact else 0
        if room < 0:
            last = number - 1
            break
        if text.strip() or not compact:
            shown.append(line)
    end = len(lines) if arguments.end_line == -1 else min(arguments.end_line, len(lines))
    more = f"; for more, start at line {last + 1}" if last < end else ""
    return "\n".join([f"{arguments.path}: lines {first}-{last} of {len(lines)}{more}", *shown])


def _range(arguments: ReadCode, count: int) -> tuple[int, int]:
    if arguments.start_line > count:
        raise ToolFailed(f"{arguments.path}: line {arguments.start_line} does not exist; the file has {count} lines")
    last = count if arguments.end_line == -1 else min(arguments.end_line, count)
    if last < arguments.start_line:
        raise ToolFailed(f"{arguments.path}: line {arguments.start_line} comes after line {arguments.end_line}")
    return arguments.start_line, min(last, arguments.start_line + MOST_LINES - 1)


def short_line(line: str) -> str:
    line = line.rstrip("\r")
    return line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]}[… {len(line) - LONGEST_LINE} characters more]"


def _claims(content: bytes, spans: list[tuple[int, int]], arguments: ReadCode) -> str:
    """Return a list of the comments that start in the requested range, with their line numbers."""
    lines = ["", "comments (claims to be checked against the code):"]
    line, at, room = 1, 0, MOST_CHARACTERS
    for start, end in spans:
        line += content.count(b"\n", at, start)
        at = start
        if line < arguments.start_line or (arguments.end_line != -1 and line > arguments.end_line):
            continue
        text = short_line(" ".join(content[start:end].decode("utf-8", "backslashreplace").split()))
        room -= len(text)
        if room < 0:
            lines.append("[… more comments omitted …]")
            break
        lines.append(f"{line:>5}| {text}")
    return "\n".join(lines) if len(lines) > 2 else ""
