"""search_code: search the lines of the files of a tree.

A model's patterns are compiled by google-re2, whose run time is linear in the length of the text; without google-re2,
simple patterns are searched with `re`. What is no regular expression is searched as it is. Files, bytes, seconds and
matching lines are bounded, and omissions are reported.
"""

import time
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase

from pydantic import Field

from jarvis_workers.source.bounded_regex import LINE_MAX, compile_bounded
from jarvis_workers.source.safe_regex import PATTERN_MAX, compile_linear, is_linear_here
from jarvis_workers.tools.reading import code_text
from jarvis_workers.tools.tool import Tool, ToolArguments, ToolFailed, ToolOutcome, typed
from jarvis_workers.tools.tree import Tree

MATCHES_MAX = 100
MOST_BYTES = 64 << 20
MOST_SECONDS = 30.0
LONGEST_LINE = 300
BINARY_LOOK = 8192
SPECIAL = frozenset(".^$*+?{}[]\\|()")
DESCRIPTION = "Search the project's files for a {}, line by line; at most {} lines are shown."
EXPRESSION = {
    True: "regular expression (RE2) or a literal text",
    False: f"literal text or a simple regular expression, in the first {LINE_MAX} characters of a line",
}

Search = Callable[[bytes], bool]
NameLine = Callable[[str, int], str]


class SearchCode(ToolArguments):
    """The pattern to search for, and the files to search."""

    pattern: str = Field(min_length=1, max_length=PATTERN_MAX)
    files: str = Field(default="*", max_length=400, description="paths, such as src/*.c")
    ignore_case: bool = False


def search_code(tree: Tree, name_line: NameLine | None = None, note: str = "") -> Tool:
    """Return the search_code tool for a tree; `name_line` names the lines in results, `note` ends the description."""

    def run(arguments: SearchCode) -> ToolOutcome:
        search, remark = _compiled(arguments)
        result: list[str] = [remark] if remark else []
        most = len(result) + MATCHES_MAX
        for line in _matches(tree, arguments, search, name_line or _file_and_line):
            if len(result) == most:
                result.append(f"[… more than {MATCHES_MAX} lines; use a narrower pattern …]")
                break
            result.append(line)
        return ToolOutcome(stdout="\n".join(result if len(result) > bool(remark) else [*result, "no line matches"]))

    description = DESCRIPTION.format(EXPRESSION[is_linear_here()], MATCHES_MAX) + note
    return typed(SearchCode, run, name="search_code", description=description, brings_foreign=True, reads_only=True)


def _file_and_line(path: str, number: int) -> str:
    return f"{path}:{number}"


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


def _matches(tree: Tree, arguments: SearchCode, search: Search, name_line: NameLine) -> Iterator[str]:
    left, end = MOST_BYTES, time.monotonic() + MOST_SECONDS
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
        if b"\0" in content[:BINARY_LOOK]:
            continue
        for number, line in enumerate(code_text(path, content).split(b"\n"), 1):
            if search(line):
                text = line[:LONGEST_LINE].decode("utf-8", "backslashreplace").strip()
                yield f"{name_line(path, number)}: {text}"
            if time.monotonic() > end:
                yield f"[… stopped at {path}: the search took {MOST_SECONDS:.0f} s; limit it to some files …]"
                return
