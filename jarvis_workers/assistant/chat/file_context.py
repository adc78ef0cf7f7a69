"""The files that an input names with `@path`, as marked text for the model."""

from collections.abc import Callable, Iterator
from pathlib import Path

from jarvis_workers.agents.loop.untrusted_text import Guard
from jarvis_workers.agents.tools.listing import DirectoryTree
from jarvis_workers.agents.tools.reading import ReadCode, read_code
from jarvis_workers.agents.tools.tool import BadCall, ToolFailed
from jarvis_workers.assistant.input_handlers import FILES_MAX, FileMention, PersonText
from jarvis_workers.paths import plain


def context_of(text: PersonText, root: Path, guard: Guard, tell: Callable[[str], None]) -> str:
    """Return the named lines of the files; a file that cannot be read is told, and its name remains text."""
    if text.left_out:
        tell(f"only the first {FILES_MAX} files are read; {text.left_out} more are left out")
    return "\n\n".join(_sections(text, DirectoryTree(root), guard, tell))


def _sections(text: PersonText, tree: DirectoryTree, guard: Guard, tell: Callable[[str], None]) -> Iterator[str]:
    reader = read_code(tree)
    for mention in text.mentions:
        try:
            content = reader.run(_arguments(mention)).text()
        except (ToolFailed, BadCall) as problem:
            tell(f"@{plain(mention.path)} is not read: {plain(str(problem))}")
            continue
        yield guard.admit(content)


def _arguments(mention: FileMention) -> ReadCode:
    return ReadCode(path=mention.path, start_line=mention.first, end_line=mention.last)
