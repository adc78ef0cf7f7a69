"""search_web: titles, addresses and excerpts of web pages, from a search server that the caller supplies.

Pages are not fetched. A query leaves the machine, and a model could send text of the project with it: so the tool
exists only where a search server is configured.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from pydantic import Field

from jarvis_workers.tools.tool import Tool, ToolArguments, ToolOutcome, typed

SEARCH_WEB = "search_web"
QUERY_MAX = 400
RESULTS_MAX = 10
EXCERPT_MAX = 400
DESCRIPTION = "Search the web. Use it for documentation and known problems; never put code of the project into a query."


class WebPage(NamedTuple):
    """A page that a search found."""

    title: str
    address: str
    excerpt: str


class SearchWeb(ToolArguments):
    """A query, and the number of pages."""

    query: str = Field(min_length=1, max_length=QUERY_MAX)
    results: int = Field(default=5, ge=1, le=RESULTS_MAX)


def search_web(search: Callable[[str], Sequence[WebPage]]) -> Tool:
    """Return the tool; `search` returns the pages for a query, and raises ToolFailed."""

    def run(arguments: SearchWeb) -> ToolOutcome:
        pages = search(arguments.query)[: arguments.results]
        return ToolOutcome(stdout="\n\n".join(map(_text, pages)) or "no page was found")

    return typed(SearchWeb, run, name=SEARCH_WEB, description=DESCRIPTION, brings_foreign=True)


def _text(page: WebPage) -> str:
    lines = (page.title, page.address, page.excerpt[:EXCERPT_MAX])
    return "\n".join(" ".join(line.split()) for line in lines if line.strip())
