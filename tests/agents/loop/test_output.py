"""What a tool says is cut to what a model can take, and the cut is told."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jarvis_workers.agents.loop.output import MOST_TOKENS, shorten
from jarvis_workers.models.platforms.protocol import estimate

LONG = {
    "lines": "\n".join(f"line {number}" for number in range(50_000)),
    "one line": "x" * 1_000_000,
    "one line of words": "word " * 200_000,
    "long lines": "\n".join("word " * 1_000 for _ in range(100)),
    "a few long lines": "\n".join("word " * 10_000 for _ in range(5)),
    "chinese": "检查长度" * 50_000,
    "no ends": "\n" * 100_000,
    "marks": "{[(<>)]}" * 50_000,
}


@pytest.mark.parametrize("kind", LONG)
def test_nothing_gets_through_that_is_too_long(kind: str) -> None:
    cut = shorten(LONG[kind])

    assert estimate(cut) <= MOST_TOKENS
    assert "omitted" in cut or kind == "no ends"
    assert cut.startswith(LONG[kind][:4])
    assert cut.endswith(LONG[kind][-4:])


@pytest.mark.parametrize("text", ["", "short", "line\n" * 1_000, "word " * 3_900])
def test_what_is_short_enough_stays_as_it_is(text: str) -> None:
    assert shorten(text) == text


def test_another_length_may_be_set() -> None:
    assert "[… 940 lines omitted …]" in shorten("\n".join(map(str, range(1_000))), 500)


@given(st.text(max_size=2_000), st.integers(min_value=100, max_value=400))
def test_a_cut_is_never_longer_than_allowed(text: str, most: int) -> None:
    cut = shorten(text, most)

    assert cut == text or estimate(cut) <= 2 * most
