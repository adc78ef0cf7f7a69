"""USER.md, SOUL.md and AGENT.md: who the user is, how the assistant behaves, and what it knows about its work.

Those in the data directory are the user's own; those in .jarvis/ belong to a project and are marked as untrusted text.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

from jarvis_workers.agents.loop.untrusted_text import Guard
from jarvis_workers.agents.tools.listing import DirectoryTree
from jarvis_workers.agents.tools.tool import ToolFailed

NAMES = ("USER.md", "SOUL.md", "AGENT.md")
TEXT_MAX = 20_000


def read_identity(data: Path, root: Path, guard: Guard, tell: Callable[[str], None]) -> str:
    """Return the identity files as a section of the system prompt."""
    own = (f"# {name}\n\n{text}" for name, text in _read(data, "", tell))
    foreign = (f"# .jarvis/{name}\n\n{guard.admit(text)}" for name, text in _read(root, ".jarvis/", tell))
    return "\n\n".join([*own, *foreign])


def _read(directory: Path, below: str, tell: Callable[[str], None]) -> Iterator[tuple[str, str]]:
    for name in NAMES:
        if not (directory / below / name).is_symlink() and not (directory / below / name).exists():
            continue
        try:
            text = DirectoryTree(directory).read(below + name).decode("utf-8", "replace").strip()
        except ToolFailed as problem:
            tell(f"left out: {problem}")
            continue
        if len(text) > TEXT_MAX:
            tell(f"{below}{name} is longer than {TEXT_MAX:,} characters; the rest is left out")
        yield name, text[:TEXT_MAX]
