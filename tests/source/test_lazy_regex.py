"""A pattern that is compiled late is like any other."""

import re

import pytest

from jarvis_workers.source.lazy_regex import lazy


def test_it_finds_what_a_compiled_pattern_finds() -> None:
    given, text = rb"(?x) (\w+) \s* \(", b"int main (void) { exit(1); }"

    assert [found[1] for found in lazy(given).finditer(text)] == [b"main", b"exit"]
    assert lazy(given).pattern == given


def test_flags_count() -> None:
    assert lazy(b"main", re.IGNORECASE).search(b"MAIN")
    assert not lazy(b"main").search(b"MAIN")


def test_what_was_asked_once_is_the_same_the_next_time() -> None:
    pattern = lazy(b"a+")

    assert pattern.search is pattern.search


def test_a_wrong_pattern_shows_on_first_use() -> None:
    pattern = lazy(b"(")

    with pytest.raises(re.error, match="unterminated"):
        pattern.search(b"")
