"""The tool search_web: ask a configured endpoint that answers with JSON, such as SearXNG.

The answer is an object whose `results` are objects with title, url, and content.
"""

import json
from collections.abc import Callable, Iterator
from typing import Annotated, Any
from urllib.parse import quote

from pydantic import Field

from jarvis_workers.agents.tools.tool import Tool, ToolArguments, ToolFailed, ToolOutcome, typed

PLACEHOLDER = "{query}"
RESULTS_MAX, TITLE_MAX, CONTENT_MAX = 10, 200, 1_000


class SearchArguments(ToolArguments):
    """The arguments of search_web."""

    query: Annotated[str, Field(min_length=1, max_length=500)]


def search_web(url: str, fetch: Callable[[str], bytes]) -> Tool:
    """Return the tool; `fetch` returns the body at an address or raises ToolFailed."""

    def run(search: SearchArguments) -> ToolOutcome:
        terms = quote(search.query.encode("utf-8", "replace"), safe="")
        results = _results(fetch(url.replace(PLACEHOLDER, terms)))
        return ToolOutcome(stdout="\n\n".join(_shown(results)) or "(no results)")

    return typed(
        SearchArguments,
        run,
        name="search_web",
        description="Search the web; returns titles, addresses and excerpts. Others see the query: quote no secrets.",
        brings_foreign=True,
    )


def _results(body: bytes) -> list[Any]:
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise ToolFailed("the search endpoint did not answer with JSON") from error
    results = answer.get("results") if isinstance(answer, dict) else None
    if not isinstance(results, list):
        raise ToolFailed("the answer of the search endpoint has no list of results")
    return results


def _shown(results: list[Any]) -> Iterator[str]:
    for place, result in enumerate((one for one in results if isinstance(one, dict)), 1):
        if place > RESULTS_MAX:
            return
        title, address, content = (" ".join(str(result.get(key) or "").split()) for key in ("title", "url", "content"))
        yield f"{place}. {title[:TITLE_MAX]}\n{address[:CONTENT_MAX]}\n{content[:CONTENT_MAX]}"
