"""The index of an unpacked tree, which the conversations of a process share."""

from functools import lru_cache
from pathlib import Path

from jarvis_workers.agents.tools.listing import DirectoryTree
from jarvis_workers.sec.judge.slices import CodeIndex

TREES_MAX = 2


@lru_cache(TREES_MAX)
def index_of(root: Path) -> CodeIndex:
    """Return the index of an unpacked tree, which the conversations of a process share, since it never changes."""
    return CodeIndex(DirectoryTree(root))
