"""How an API writes a request: the fields before its messages, the messages, and the fields after them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jarvis_workers.models.platforms.profiles import Profile
from jarvis_workers.models.platforms.protocol import Message, ModelRequest

Item = dict[str, Any]


def _never(before: Message, message: Message) -> bool:
    return False


def _unchanged(item: Item) -> Item:
    return item


@dataclass(frozen=True)
class RequestFormat:
    """The form of a request.

    `head` returns the fields before the messages, which are the same in all requests of a turn; `tail` those after
    them; `items` the entries of `list_field` for a group of messages. A message that `joins` the one before is in its
    group. `mark` returns the last item of a request with what concerns only the provider's prompt cache.
    """

    list_field: str
    head: Callable[[Profile, ModelRequest], Mapping[str, Any]]
    items: Callable[[Profile, Sequence[Message]], Sequence[Item]]
    tail: Callable[[Profile, ModelRequest], dict[str, Any]]
    joins: Callable[[Message, Message], bool] = _never
    mark: Callable[[Item], Item] = _unchanged
