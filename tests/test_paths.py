import pytest
from hypothesis import given
from hypothesis import strategies as st

from jarvis_workers.paths import as_text, from_shown, from_text, leaves_the_root, shown


def test_people_see_utf8_as_it_is_and_other_bytes_escaped() -> None:
    assert shown("größe/a b.c".encode()) == "größe/a b.c"
    assert shown(b"caf\xe9\xff.c") == "caf\\xe9\\xff.c"


def test_a_name_that_looks_escaped_is_told_from_one_that_is() -> None:
    assert shown(rb"a\xff.c") == r"a\x5cxff.c"
    assert shown(rb"a\xFF\n.c") == r"a\xFF\n.c"
    assert from_shown(shown(rb"a\xff.c")) == rb"a\xff.c"


@given(
    st.one_of(
        st.binary(), st.lists(st.sampled_from([b"\\", b"x", b"f", b"5c", b"\xff", b"\0", "é".encode()])).map(b"".join)
    )
)
def test_what_people_see_names_one_path_alone(path: bytes) -> None:
    assert from_shown(shown(path)) == path


@given(st.binary())
def test_any_bytes_come_back_from_their_text_and_can_be_shown(path: bytes) -> None:
    assert from_text(as_text(path)) == path
    shown(path).encode()


@pytest.mark.parametrize(
    "path", [b"", b"/a", b"..", b"../a", b"a/../b", b"a/..", b"a//b", b"a/", b"./a", b"a/./b", b"a\0b"]
)
def test_a_path_that_is_not_plainly_below_the_root_is_refused(path: bytes) -> None:
    assert leaves_the_root(path)


@pytest.mark.parametrize("path", [b"a", b"a/b", b"..a", b"a../b", b"...", b".hidden", b"a\n..\nb"])
def test_dots_within_a_name_are_just_a_name(path: bytes) -> None:
    assert not leaves_the_root(path)
