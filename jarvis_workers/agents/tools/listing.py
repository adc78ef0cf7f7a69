"""list_files: the paths of a tree, or the number of files of each directory if there are many."""

from collections import Counter
from fnmatch import fnmatchcase

from pydantic import Field

from jarvis_workers.agents.tools.tool import Tool, ToolArguments, ToolOutcome, typed
from jarvis_workers.agents.tools.tree import Tree

PATHS_MAX = 200
NOTHING = "no file matches"
DESCRIPTION = f"List the paths of the project's files; more than {PATHS_MAX} are counted by directory."


class ListFiles(ToolArguments):
    """The files to list."""

    files: str = Field(default="*", max_length=400, description="paths, such as src/*.c")


def list_files(tree: Tree, nothing: str = NOTHING) -> Tool:
    """Return the list_files tool for a tree; `nothing` is what it says if no file matches."""

    def run(arguments: ListFiles) -> ToolOutcome:
        paths = [path for path in tree.paths() if fnmatchcase(path, arguments.files)]
        shown = paths if len(paths) <= PATHS_MAX else _by_directory(paths)
        return ToolOutcome(stdout="\n".join(shown) or nothing)

    return typed(ListFiles, run, name="list_files", description=DESCRIPTION, brings_foreign=True, reads_only=True)


def _by_directory(paths: list[str]) -> list[str]:
    count = Counter(path.rpartition("/")[0] for path in paths)
    lines = [f"{directory or '.'}/: {number} files" for directory, number in sorted(count.items())]
    more = [f"[… {len(lines) - PATHS_MAX} more directories; use a narrower pattern …]"]
    return [f"{len(paths)} files:", *lines[:PATHS_MAX], *(more if len(lines) > PATHS_MAX else [])]
