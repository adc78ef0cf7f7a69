"""A store that is away is waited for, as long as nobody wants to end."""

import threading

import pytest

from jarvis_workers.errors import StoreUnavailable
from jarvis_workers.pipeline.store_retry import retry_store

pytestmark = pytest.mark.timing


def test_retry_of_the_store_until_it_is_back() -> None:
    answers = [StoreUnavailable("is the database running?"), StoreUnavailable("is the database running?"), "saved"]

    def save() -> str:
        answer = answers.pop(0)
        if isinstance(answer, StoreUnavailable):
            raise answer
        return str(answer)

    assert (retry_store(save), answers) == ("saved", [])


def test_retry_of_the_store_ends_when_told() -> None:
    told = threading.Event()
    told.set()

    def save() -> None:
        raise StoreUnavailable("is the database running?")

    with pytest.raises(StoreUnavailable):
        retry_store(save, told)


def test_without_patience_the_store_is_asked_once() -> None:
    asked: list[int] = []

    def save() -> None:
        asked.append(1)
        raise StoreUnavailable("is the database running?")

    with pytest.raises(StoreUnavailable):
        retry_store(save, patience_seconds=0)
    assert len(asked) == 1
