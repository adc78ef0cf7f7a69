"""A transport with the standard library only, so that conversations over real HTTP are tested without packages."""

import asyncio
import http.client
from urllib.parse import urlsplit

from jarvis_workers.models.platforms.apis import APIS
from jarvis_workers.models.platforms.transport import OnLine, RequestRefused, Unreachable, seconds_to_wait


class PlainWire:
    """A transport to a server through http.client."""

    def __init__(self, base_url: str, api: str = "chat") -> None:
        self._parts = urlsplit(APIS[api].url(base_url))
        self._headers = {"content-type": "text/json", **APIS[api].headers("key")}

    def _send(self, body: bytes, seconds: float, on_line: OnLine | None) -> bytes:
        try:
            answer = self._post(body, seconds)
            if on_line is None:
                return answer.read()
            lines = []
            while line := answer.readline():
                lines.append(line)
                on_line(line.rstrip(b"\n"))
            return b"".join(lines)
        except (OSError, http.client.HTTPException) as error:
            raise Unreachable(f"{type(error).__name__}: {error}") from error

    async def send_async(self, body: bytes, seconds: float, on_line: OnLine | None = None) -> bytes:
        return await asyncio.to_thread(self._send, body, seconds, on_line)

    def _post(self, body: bytes, seconds: float) -> http.client.HTTPResponse:
        client = http.client.HTTPConnection(self._parts.hostname or "", self._parts.port, timeout=seconds)
        client.request("POST", self._parts.path, body, self._headers)
        answer = client.getresponse()
        if answer.status != 200:
            raise RequestRefused(answer.status, answer.read().decode()[:200], seconds_to_wait(answer.headers))
        return answer
