"""Whatever the engine, the proposals are the same."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jarvis_workers.source.match import ENGINES, Word, build, engines
from jarvis_workers.source.pattern_cache import PatternCache

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


WORDS_AND_OTHERS = (Word(b"free", rb" ?\("), Word(b"memcpy", rb"[^0-9A-Za-z_]"), Word(b"x", rb" ?\("), b"NO-LINT")
PIECES = st.sampled_from([b"free", b"xfree", b"memcpy", b"x", b"(", b" ", b"\n", b"_", b"1", b"NO-LINT", b"\xff"])


@pytest.mark.timing
@pytest.mark.parametrize("engine", engines())
@given(content=st.lists(PIECES, max_size=30).map(b"".join), limit=st.integers(0, 9))
def test_words_are_found_alike_by_every_engine(engine: str, content: bytes, limit: int) -> None:
    plain = [re.escape(one.word) + one.follows if isinstance(one, Word) else one for one in WORDS_AND_OTHERS]
    everywhere = ((number, found.start()) for number, one in enumerate(plain) for found in re.finditer(one, content))
    expected = sorted(everywhere, key=lambda found: found[1])[:limit]

    assert build(WORDS_AND_OTHERS, engine).find(content, limit) == expected


@pytest.mark.parametrize("engine", engines())
def test_with_a_place_to_keep_it_the_same_is_found_the_second_time(engine: str, tmp_path: Path) -> None:
    content, kept = b"recopy(a); gets (b); unsafe { }", PatternCache(tmp_path / "patterns")

    first, second = (build(PATTERNS, engine, kept).find(content) for _ in range(2))

    assert first == second == build(PATTERNS, engine).find(content)
    assert (tmp_path / "patterns").exists() == (engine == "hyperscan")


@pytest.mark.skipif("hyperscan" not in engines(), reason="hyperscan is not installed")
def test_what_hyperscan_refuses_is_compiled_anew(tmp_path: Path) -> None:
    kept = PatternCache(tmp_path)
    build(PATTERNS, "hyperscan", kept)
    (place,) = tmp_path.iterdir()
    whole = kept.find(place.name)
    kept.put(place.name, b"of another version")

    assert build(PATTERNS, "hyperscan", kept).find(b"gets (b)") == [(2, 0)]
    assert kept.find(place.name) == whole


@pytest.mark.parametrize("engine", engines())
def test_an_empty_file_matches_nothing(engine: str) -> None:
    assert build(PATTERNS, engine).find(b"") == []


def test_the_engine_of_the_standard_library_is_always_there() -> None:
    assert engines()[-1] == "re"
    assert set(engines()) <= set(ENGINES)


def test_without_a_choice_the_best_engine_is_taken() -> None:
    assert type(build(PATTERNS)) is type(build(PATTERNS, engines()[0]))
