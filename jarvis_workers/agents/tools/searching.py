"""search_code: search the lines of the files of a tree.

A model's patterns are compiled by google-re2, whose run time is linear in the length of the text; without google-re2,
simple patterns are searched with `re`. What is no regular expression is searched as it is. Files, bytes, seconds and
matching lines are bounded, and omissions are reported.
"""

import re
import time
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from typing import NamedTuple

from pydantic import Field

from jarvis_workers.agents.tools.listing import Tree
from jarvis_workers.agents.tools.reading import code_text, short_line
from jarvis_workers.agents.tools.tool import Tool, ToolArguments, ToolFailed, ToolOutcome, typed
from jarvis_workers.source.bounded_regex import LINE_MAX, compile_bounded
from jarvis_workers.source.safe_regex import PATTERN_MAX, compile_linear, is_linear_here

MATCHES_MAX = 100
MOST_BYTES = 64 << 20
MOST_SECONDS = 30.0
BINARY_LOOK = 8192
SPECIAL = frozenset(".^$*+?{}[]\\|()")
DESCRIPTION = "Search the project's files for a {}, line by line; at most {} lines are shown."
EXPRESSION = {
    True: "regular expression (RE2) or a literal text",
    False: f"literal text or a simple regular expression, in the first {LINE_MAX} characters of a line",
}

# Escapes that stand for other letters, and what may make the text before it optional.
ODD_ESCAPE = re.compile(r"\\[xpPQ0-7]|\(\?|\)[?*{]|\|")
NO_TEXT = re.compile(r"\\.|\[[^\]]*\]|\w(?=[?*{])|\{[^}]*\}")
WORD = re.compile(r"\w{3,}", re.ASCII)

Search = Callable[[bytes], bool]


class SearchedView(NamedTuple):
    """How files are searched: their text by path and content, the name of a line, and a note on it for the model.

    `nothing` is what it gets if no line matches.
    """

    text: Callable[[str, bytes], bytes] = code_text
    name_line: Callable[[str, int], str] = "{}:{}".format
    note: str = ""
    nothing: str = "no line matches"


class SearchCode(ToolArguments):
    """The pattern to search for, and the files to search."""

    pattern: str = Field(min_length=1, max_length=PATTERN_MAX)
    files: str = Field(default="*", max_length=400, description="paths, such as src/*.c")
    ignore_case: bool = False


def search_code(tree: Tree, view: SearchedView = SearchedView()) -> Tool:  # noqa: B008  (a value)
    """Return the search_code tool for a tree."""

    def run(arguments: SearchCode) -> ToolOutcome:
        search, remark = _compiled(arguments)
        result: list[str] = [remark] if remark else []
        most = len(result) + MATCHES_MAX
        for line in _matches(tree, arguments, search, view):
            if len(result) == most:
                result.append(f"[… more than {MATCHES_MAX} lines; use a narrower pattern …]")
                break
            result.append(line)
        return ToolOutcome(stdout="\n".join(result if len(result) > bool(remark) else [*result, view.nothing]))

    description = DESCRIPTION.format(EXPRESSION[is_linear_here()], MATCHES_MAX) + view.note
    return typed(SearchCode, run, name="search_code", description=description, brings_foreign=True, reads_only=True)


def _compiled(arguments: SearchCode) -> tuple[Search, str]:
    """Return the search function, and a remark if the pattern has operators, but is searched as literal text only.

    Code that is copied into a pattern is found as it is written, even if it is a regular expression, too.
    """
    literal = _literal(arguments)
    if not SPECIAL & set(arguments.pattern):
        return literal, ""
    pattern = f"(?i){arguments.pattern}" if arguments.ignore_case else arguments.pattern
    try:
        search = (compile_linear if is_linear_here() else compile_bounded)(pattern)
    except ValueError as error:
        return literal, f"[searched as literal text: no valid regular expression here: {error}]"
    return lambda line: search(line) or literal(line), ""


def _literal(arguments: SearchCode) -> Search:
    text = arguments.pattern.encode()
    return (lambda line: text.lower() in line.lower()) if arguments.ignore_case else (lambda line: text in line)


def _required_word(arguments: SearchCode) -> bytes:
    """Return a word that each match contains, or nothing: files without it need not be prepared for the search."""
    if arguments.ignore_case or ODD_ESCAPE.search(arguments.pattern):
        return b""
    return max(WORD.findall(NO_TEXT.sub(" ", arguments.pattern)), key=len, default="").encode()


def _matches(tree: Tree, arguments: SearchCode, search: Search, view: SearchedView) -> Iterator[str]:
    left, end, word = MOST_BYTES, time.monotonic() + MOST_SECONDS, _required_word(arguments)
    for path in tree.paths():
        if not fnmatchcase(path, arguments.files):
            continue
        try:
            content = tree.read(path)
        except ToolFailed as error:
            yield f"[not searched: {error}]"
            continue
        left -= len(content)
        if left < 0:
            yield f"[… stopped at {path}: {MOST_BYTES >> 20} MB were searched; limit the search to some files …]"
            return
        if word not in content and b"\0" not in content[:BINARY_LOOK]:
            continue
        text = view.text(path, content)
        for number, line in enumerate(text.split(b"\n") if b"\0" not in text[:BINARY_LOOK] else (), 1):
            if search(line):
                shown = short_line(line.decode("utf-8", "backslashreplace").strip())
                yield f"{view.name_line(path, number)}: {shown}"
            if time.monotonic() > end:
                yield f"[… stopped at {path}: the search took {MOST_SECONDS:.0f} s; limit it to some files …]"
                return
