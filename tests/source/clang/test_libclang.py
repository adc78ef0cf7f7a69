"""libclang is found, or its absence is an error with the way to install it."""

import sys
from collections.abc import Iterator

import pytest

from jarvis_workers.errors import UsageError
from jarvis_workers.source.clang.libclang import library


@pytest.fixture
def without_libclang(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setitem(sys.modules, "clang", None)
    library.cache_clear()
    yield
    library.cache_clear()


@pytest.mark.usefixtures("without_libclang")
def test_without_libclang_the_message_says_how_to_get_it() -> None:
    with pytest.raises(UsageError, match=r"^reading C needs libclang, which is not installed; install it .*libclang"):
        library()
