"""The language of a file, headers and tests, told by their paths."""

import pytest

from jarvis_workers.source.languages import is_header, is_test, language_of


@pytest.mark.parametrize("suffix", ["c", "cpp", "h", "hpp", "cc", "cxx", "c++", "C", "hh", "hxx", "inl", "ipp", "tpp"])
def test_c_and_cpp_are_known_by_their_suffix(suffix: str) -> None:
    assert language_of(b"src/a." + suffix.encode()) == "c/cpp"


def test_other_suffixes_are_left_out_unless_asked_for() -> None:
    assert language_of(b"src/lib.rs") == "rust"
    assert [language_of(name) for name in (b"a.py", b"c", b".c", b"a.c/b", b"\xff.")] == [None] * 5
    assert language_of(b"a.cu", {b"cu": "c/cpp"}) == "c/cpp"
    assert language_of(b"a.c", {b"cu": "c/cpp"}) is None


def test_headers_and_tests_are_told_by_their_names() -> None:
    assert is_header(b"include/a.h")
    assert not is_header(b"a.c")
    for path in (
        b"tests/a.c",
        b"x/test/a.c",
        b"benches/a.rs",
        b"x/examples/a.rs",
        b"src/list_test.c",
        b"test_list.c",
        b"src/tests.rs",
        b"a_tests.rs",
        b"docs/code/a.c",
        b"fuzzing/a.cpp",
        b"src/url_fuzzer.c",
    ):
        assert is_test(path)
    for path in (b"src/latest.c", b"contest/a.c", b"src/docs.c", b"fuzzy/a.c", b"src/testament.c", b"attest.rs"):
        assert not is_test(path)
