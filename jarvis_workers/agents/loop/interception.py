"""Compose conversations: perform the effects of one in another way."""

from collections.abc import Callable, Generator
from typing import Any, TypeVar, cast

from jarvis_workers.agents.loop.effects import Conversation, Want
from jarvis_workers.errors import ModelError

T = TypeVar("T")
W = TypeVar("W")


def intercept(talk: Conversation[T], perform: Callable[[Want], Generator[W, Any, Any]]) -> Generator[W, Any, T]:
    """Run a conversation whose effects `perform` performs, one generator each; return its result.

    A ModelError of `perform` is thrown into the conversation; any other exception ends both.
    """
    try:
        want = next(talk)
        while True:
            try:
                answer = yield from perform(want)
            except ModelError as error:
                want = talk.throw(error)
            else:
                want = talk.send(answer)
    except StopIteration as end:
        return cast(T, end.value)
    finally:
        talk.close()
