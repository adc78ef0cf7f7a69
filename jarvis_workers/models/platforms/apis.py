"""The table of the APIs that model servers have: how requests are addressed and written, and answers are read."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from jarvis_workers.models.platforms import chat_api, messages_api, responses_api
from jarvis_workers.models.platforms.json_fields import decode_object
from jarvis_workers.models.platforms.protocol import Reply
from jarvis_workers.models.platforms.request_format import RequestFormat

ANTHROPIC_VERSION = "2023-06-01"


class AnswerEvents(Protocol):
    """The events of one streamed answer, as they arrive."""

    def add(self, event: Mapping[str, Any]) -> str:
        """Add an event and return the text that it brings; raises BrokenAnswer."""

    def answer(self) -> Mapping[str, Any]:
        """Return the answer as it would be without a stream."""


@dataclass(frozen=True)
class ModelApi:
    """An API: `read` parses a whole answer, `url` returns the address of its requests below a base address."""

    url: Callable[[str], str]
    headers: Callable[[str], Mapping[str, str]]
    form: RequestFormat
    read: Callable[[Mapping[str, Any]], Reply]
    events: Callable[[], AnswerEvents]


def decode(body: bytes, api: str = "chat") -> Reply:
    """Parse a whole response. Raises BrokenAnswer."""
    return APIS[api].read(decode_object(body))


def _bearer(key: str) -> Mapping[str, str]:
    return {"Authorization": f"Bearer {key}"}


def _anthropic(key: str) -> Mapping[str, str]:
    return {"x-api-key": key, "anthropic-version": ANTHROPIC_VERSION}


def _messages_url(base_url: str) -> str:
    """Return the address below a base with or without the version, since Anthropic's own clients add it."""
    return base_url + ("/messages" if base_url.endswith("/v1") else "/v1/messages")


APIS: Mapping[str, ModelApi] = {
    "chat": ModelApi(
        lambda base_url: f"{base_url}/chat/completions",
        _bearer,
        chat_api.FORM,
        chat_api.read_completion,
        chat_api.CompletionChunks,
    ),
    "responses": ModelApi(
        lambda base_url: f"{base_url}/responses",
        _bearer,
        responses_api.FORM,
        responses_api.read_response,
        responses_api.ResponseEvents,
    ),
    "messages": ModelApi(
        _messages_url, _anthropic, messages_api.FORM, messages_api.read_message, messages_api.MessageEvents
    ),
}
