"""Commands are split into words as a POSIX shell does."""

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jarvis_workers.builds.command_words import expand_responses, split_words


def shell_words(text: str) -> list[str] | None:
    try:
        return shlex.split(text)
    except ValueError:
        return None


@given(st.text("ab \t'\"\\", max_size=30))
def test_words_are_those_of_shlex(text: str) -> None:
    expected = shell_words(text)

    if expected is None:
        with pytest.raises(ValueError, match="no closing quotation"):
            split_words(text)
    else:
        assert split_words(text) == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('"\\$HOME \\` \\a"', ["$HOME ` \\a"]),
        ("a\\\nb 'c\\\nd' \"e\\\nf\"", ["ab", "c\\\nd", "ef"]),
        ("'' \"\"", ["", ""]),
    ],
)
def test_escapes_are_those_of_a_shell(text: str, words: list[str]) -> None:
    assert split_words(text) == words


@given(st.lists(st.text(st.characters(exclude_characters="\0"), max_size=8), max_size=6))
def test_quoted_words_of_a_response_file_come_back(words: list[str]) -> None:
    assert expand_responses(["@response"], {"response": shlex.join(words)}.get) == words
