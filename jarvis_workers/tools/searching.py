"""search_code: search the lines of the files of a tree.

A model's patterns are compiled by google-re2, whose run time is linear in the length of the text; without google-re2,
only literal text can be searched for. Files, bytes and matching lines are bounded, and omissions are reported.
"""

from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase

from pydantic import Field

from jarvis_workers.source.safe_regex import PATTERN_MAX, compile_linear
from jarvis_workers.tools.reading import code_text
from jarvis_workers.tools.tool import Tool, ToolArguments, ToolFailed, ToolOutcome, typed
from jarvis_workers.tools.tree import Tree

MATCHES_MAX = 100
MOST_BYTES = 64 << 20
LONGEST_LINE = 300
BINARY_LOOK = 8192
SPECIAL = frozenset(".^$*+?{}[]\\|()")
DESCRIPTION = f"Search the project's files for a regular expression (RE2), line by line; at most {MATCHES_MAX} lines."

Search = Callable[[bytes], bool]


class SearchCode(ToolArguments):
    """The pattern to search for, and the files to search."""

    pattern: str = Field(min_length=1, max_length=PATTERN_MAX)
    files: str = Field(default="*", max_length=400, description="paths, such as src/*.c")
    ignore_case: bool = False


def search_code(tree: Tree) -> Tool:
    """Return the search_code tool for a tree."""

    def run(arguments: SearchCode) -> ToolOutcome:
        result: list[str] = []
        for line in _matches(tree, arguments, _compiled(arguments)):
            if len(result) == MATCHES_MAX:
                result.append(f"[… more than {MATCHES_MAX} lines; use a narrower pattern …]")
                break
            result.append(line)
        return ToolOutcome(stdout="\n".join(result) or "no line matches")

    return typed(SearchCode, run, name="search_code", description=DESCRIPTION, brings_foreign=True)


def _compiled(arguments: SearchCode) -> Search:
    pattern = f"(?i){arguments.pattern}" if arguments.ignore_case else arguments.pattern
    try:
        return compile_linear(pattern)
    except ValueError as error:
        raise ToolFailed(f"{arguments.pattern!r} is not a valid regular expression: {error}") from error
    except ImportError:
        return _literal(arguments)


def _literal(arguments: SearchCode) -> Search:
    if SPECIAL & set(arguments.pattern):
        raise ToolFailed("regular expressions need google-re2, which is not installed; search for a literal text")
    text = arguments.pattern.encode()
    return (lambda line: text.lower() in line.lower()) if arguments.ignore_case else (lambda line: text in line)


def _matches(tree: Tree, arguments: SearchCode, search: Search) -> Iterator[str]:
    left = MOST_BYTES
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
        if b"\0" not in content[:BINARY_LOOK]:
            yield from _lines(path, code_text(path, content), search)


def _lines(path: str, content: bytes, search: Search) -> Iterator[str]:
    for number, line in enumerate(content.split(b"\n"), 1):
        if search(line):
            yield f"{path}:{number}: {line[:LONGEST_LINE].decode('utf-8', 'backslashreplace').strip()}"
