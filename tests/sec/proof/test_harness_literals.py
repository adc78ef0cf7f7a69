"""Literals in the source of a harness: which there are, and how they are shortened."""

from hypothesis import given
from hypothesis import strategies as st

from jarvis_workers.sec.proof.minimisation import literals_of, with_parts

CODE = """\
#include "a.h" // "no literal"
/* "nor this" {1, 2} */
static const unsigned char data[] = { 0x41, 'b', '}', '\\n', 12u, };
int main(void) { char c = '"'; return parse("x\\x41\\"y", data, sizeof data) + L"wide"[0]; }
"""


def test_strings_and_lists_outside_comments_and_directives_are_literals() -> None:
    assert [(one.is_list, one.parts) for one in literals_of(CODE)] == [
        (True, ("0x41", "'b'", "'}'", "'\\n'", "12u")),
        (False, ("x", "\\x41", '\\"', "y")),
    ]


def test_a_shorter_literal_takes_the_place_of_the_old_one() -> None:
    shorter = with_parts(with_parts(CODE, 0, ("'}'", "12u")), 1, ())

    assert "data[] = { '}', 12u, };" in shorter
    assert 'parse("", data' in shorter
    assert "data[] = { 0, };" in with_parts(CODE, 0, ())


PARTS = ["a", "F", "0", "7", "\\x41", "\\x4", "\\0", "\\7", "\\101", '\\"', "\\n", "\\\\", " ", "'"]


def value(part: str) -> int:
    """Return the code of a character of a string."""
    plain = {"n": 10, '"': 34, "\\": 92}
    if not part.startswith("\\"):
        return ord(part)
    return int(part[2:], 16) if part[1] == "x" else int(part[1:], 8) if part[1].isdecimal() else plain[part[1]]


@given(st.lists(st.sampled_from(PARTS), max_size=12))
def test_a_shortened_string_has_the_characters_that_are_left(parts: list[str]) -> None:
    first, second = literals_of(with_parts('f("abcdefgh", "the next");', 0, parts))

    assert list(map(value, first.parts)) == list(map(value, parts))
    assert "".join(second.parts) == "the next"


def test_an_escape_does_not_take_in_the_next_character() -> None:
    assert with_parts('f("abc");', 0, ("\\x41", "B", "\\x41", "z", "\\1", "1")) == 'f("\\101B\\x41z\\0011");'
