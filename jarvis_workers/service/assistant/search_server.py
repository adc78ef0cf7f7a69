"""A search server with the JSON interface of SearXNG: `GET URL?q=QUERY&format=json`.

No redirect is followed, and time and size of an answer are bounded.
"""

import json
import urllib.error
import urllib.request
from http.client import HTTPException
from typing import Any
from urllib.parse import urlencode

from jarvis_workers.tools.tool import ToolFailed
from jarvis_workers.tools.web_search import WebPage

TIMEOUT_SECONDS = 20.0
BYTES_MAX = 2 << 20


class _StaysThere(urllib.request.HTTPRedirectHandler):
    """Refuses redirects, which could send queries to another host."""

    def redirect_request(self, *_: Any) -> None:
        return None


class SearchServer:
    """Searches with the server at `url`, which has no parameters."""

    def __init__(self, url: str) -> None:
        self._url = url

    def __call__(self, query: str) -> list[WebPage]:
        """Return the pages for a query. Raises ToolFailed."""
        request = urllib.request.Request(f"{self._url}?{urlencode({'q': query, 'format': 'json'})}")
        request.add_header("User-Agent", "jarvis-workers")
        try:
            with urllib.request.build_opener(_StaysThere).open(request, timeout=TIMEOUT_SECONDS) as answer:
                document = json.loads(answer.read(BYTES_MAX))
        except urllib.error.HTTPError as error:
            error.close()
            raise ToolFailed(f"the search server responded with {error.code}") from error
        except (OSError, HTTPException) as error:
            raise ToolFailed(f"the search server does not respond: {type(error).__name__}") from error
        except (ValueError, RecursionError) as error:
            raise ToolFailed("the answer of the search server is not JSON") from error
        results = document.get("results") if isinstance(document, dict) else None
        if not isinstance(results, list):
            raise ToolFailed("the answer of the search server has no results")
        return [_page(one) for one in results if isinstance(one, dict)]


def _page(result: dict[str, Any]) -> WebPage:
    return WebPage(*(str(result.get(name) or "") for name in ("title", "url", "content")))
