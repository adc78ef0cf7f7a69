"""The tools of a verification that read, search and list code in the view that decides."""

from collections.abc import Mapping

from jarvis_workers.agents.tools.listing import list_files
from jarvis_workers.agents.tools.reading import read_code
from jarvis_workers.agents.tools.searching import SearchedView, search_code
from jarvis_workers.agents.tools.tool import Tool, Toolbox
from jarvis_workers.sec.judge.slices import SELECTED, CodeIndex, PlacedTree, SearchTree, is_source, split_name
from jarvis_workers.sec.proof.run_tool import RUN_PROOF

READ, SEARCH = "read_code", "search_code"
READERS = (READ, SEARCH, "list_files")
SEARCHED = " Only source files are searched, without their comments."


def reading_toolbox(index: CodeIndex, *more: Tool) -> Toolbox:
    """Return the tools for a tree, and `more`."""
    sources = SearchTree(index)
    view = SearchedView(sources.decided, sources.name_line, SEARCHED, f"no line matches; {SELECTED}")
    return Toolbox(
        [
            read_code(PlacedTree(index), "blanked"),
            search_code(sources, view),
            list_files(index.tree, f"no file matches; {SELECTED}"),
            *more,
        ]
    )


def shows_comments(tool: str, arguments: Mapping[str, object]) -> bool:
    """Return whether a call may show more than the deciding view: a script, comments on request, a document.

    An attempt shows what a sanitizer reports, and the output of a program (`ToolCalls.saw_prose`).
    """
    if tool != READ:
        return tool not in (*READERS, RUN_PROOF)
    return bool(arguments.get("comments")) or not is_source(split_name(str(arguments.get("path", "")))[0])
