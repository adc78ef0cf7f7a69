"""Fetch a document over HTTP for a tool, with limits of time and size; redirects are not followed."""

import time
import urllib.error
import urllib.request
from http.client import HTTPException
from typing import Any

from jarvis_workers.agents.tools.tool import ToolFailed
from jarvis_workers.paths import plain

FETCH_SECONDS, FETCH_BYTES, CHUNK_BYTES = 20.0, 1_000_000, 65_536


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Refuses redirects, which could lead to another host or scheme."""

    def redirect_request(self, *_: Any) -> None:
        return None


def open_without_redirects(request: urllib.request.Request, seconds: float) -> Any:
    """Send a request and return the open answer; raises what `urllib` raises, HTTPError for a redirect."""
    return urllib.request.build_opener(_NoRedirects).open(request, timeout=seconds)


def fetch_document(url: str, key: str | None = None, *, seconds: float = FETCH_SECONDS) -> bytes:
    """Return the body at an http or https address; `key` is sent as a bearer token. Raises ToolFailed."""
    headers = {"Accept": "application/json", "Accept-Encoding": "identity"}
    request = urllib.request.Request(url, headers=headers | ({"Authorization": f"Bearer {key}"} if key else {}))
    if request.type not in ("http", "https"):
        raise ToolFailed("only http and https addresses can be fetched")
    ends = time.monotonic() + seconds
    try:
        with open_without_redirects(request, seconds) as answer:
            return _read(answer, ends)
    except urllib.error.HTTPError as error:
        raise ToolFailed(f"{request.host} answered with status {error.code}") from error
    except (OSError, HTTPException, ValueError) as error:
        reason = getattr(error, "reason", None) or error
        raise ToolFailed(plain(f"{request.host} does not answer: {reason}")[:300]) from error


def _read(answer: Any, ends: float) -> bytes:
    body = bytearray()
    while chunk := answer.read1(CHUNK_BYTES):
        body += chunk
        if len(body) > FETCH_BYTES:
            raise ToolFailed(f"the answer is larger than {FETCH_BYTES // 1_000_000} MB")
        if time.monotonic() > ends:
            raise ToolFailed("the answer took too long")
    return bytes(body)
