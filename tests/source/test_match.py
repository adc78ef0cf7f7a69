"""Whatever the engine, the proposals are the same."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jarvis_workers.source.match import ENGINES, Word, build, engines

PATTERNS = (rb"copy[( ]", rb"unsafe[^0-9A-Za-z_]", rb"gets(?: ?[(/]|\n)")
WORDS = st.sampled_from([b"strcpy", b"copy(", b"unsafe", b"unsafe{", b"gets (", b"gets", b" ", b"\n", b"\0", b"\xff"])
CONTENTS = st.lists(WORDS, max_size=30).map(b"".join)


@pytest.mark.parametrize("engine", engines())
def test_a_match_says_which_pattern_and_where_it_starts(engine: str) -> None:
    assert build(PATTERNS, engine).find(b"recopy(a); gets (b); unsafe { }") == [(0, 2), (2, 11), (1, 21)]


@pytest.mark.parametrize("engine", engines())
@given(content=CONTENTS)
def test_every_engine_finds_what_re_finds(engine: str, content: bytes) -> None:
    assert build(PATTERNS, engine).find(content) == build(PATTERNS, "re").find(content)


@pytest.mark.parametrize("engine", engines())
@pytest.mark.parametrize("word", [b"free", b"pthread_create"], ids=["short", "long"])
def test_a_word_counts_only_with_what_follows_it(engine: str, word: bytes) -> None:
    content = b"%bd(a); x%b(b); %b (c); %b" % (word, word, word, word)

    found = build([b"other", Word(word, rb" ?\(")], engine).find(content)

    assert found == [(1, content.index(word + b"(")), (1, content.index(word + b" ("))]


@pytest.mark.parametrize("engine", engines())
def test_of_too_many_matches_the_first_are_returned(engine: str) -> None:
    assert build(PATTERNS, engine).find(b"copy(" * 5_000, 3) == [(0, 0), (0, 5), (0, 10)]


@pytest.mark.parametrize("engine", engines())
def test_an_empty_file_matches_nothing(engine: str) -> None:
    assert build(PATTERNS, engine).find(b"") == []


def test_the_engine_of_the_standard_library_is_always_there() -> None:
    assert engines()[-1] == "re"
    assert set(engines()) <= set(ENGINES)


def test_without_a_choice_the_best_engine_is_taken() -> None:
    assert type(build(PATTERNS)) is type(build(PATTERNS, engines()[0]))
