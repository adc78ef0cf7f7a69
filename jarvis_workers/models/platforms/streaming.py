"""Read a streamed answer (server-sent events), and pass its text on while it arrives.

The events are assembled to the answer that the API gives without a stream, and read like it. A server that ignores the
request for a stream and sends one JSON object is understood as well. A stream that ends without a finish reason gives
a reply without one, which the agent loop handles as truncated.
"""

import json

from jarvis_workers.errors import BrokenAnswer
from jarvis_workers.models.platforms.apis import APIS, decode
from jarvis_workers.models.platforms.json_fields import mapping, quote
from jarvis_workers.models.platforms.protocol import OnText, Reply

FIELD, LAST = b"data:", b"[DONE]"
# llama.cpp had errors in a field of their own.
ERROR_FIELD = b"error:"


class AnswerStream:
    """The answer to one request; `begin` starts each attempt at it."""

    def __init__(self, on_text: OnText, api: str = "chat") -> None:
        self._on_text, self._api = on_text, api
        self._has_text = False
        self._start()

    def begin(self) -> None:
        """Drop what an earlier attempt has received, and say so if some of its text was passed on."""
        if self._has_text:
            self._on_text(None)
        self._start()

    def add(self, line: bytes) -> None:
        """Add a line of the response; raises BrokenAnswer. Comments and other fields than `data` are ignored."""
        if line.startswith(ERROR_FIELD):
            raise BrokenAnswer(f"the server ended its answer with an error: {quote(line)}")
        if not line.startswith(FIELD):
            return
        data = line[len(FIELD) :].strip()
        self._is_stream = True
        if data and data != LAST:
            self._add_event(data)

    def read(self, body: bytes) -> Reply:
        """Return the whole answer; `body` is the complete response. Raises BrokenAnswer."""
        if self._is_stream:
            return APIS[self._api].read(self._events.answer())
        reply = decode(body, self._api)
        self._pass_on(reply.content)
        return reply

    def _start(self) -> None:
        self._is_stream = self._has_text = False
        self._events = APIS[self._api].events()

    def _add_event(self, data: bytes) -> None:
        try:
            event = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise BrokenAnswer(f"a part of the server's answer is not JSON: {quote(data)}") from error
        self._pass_on(self._events.add(mapping(event)))

    def _pass_on(self, text: str) -> None:
        if text:
            self._has_text = True
            self._on_text(text)
