"""Edits of files: unique match, all or none, and no edit of content that the author has not read."""

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jarvis_workers.agent.edits import TextEdit, apply_edits, content_hash, diff_summary

MAIN = b"fn main() {\n    one();\n    two();\n}\n"


def causes(files: dict[str, bytes], *edits: TextEdit, hashes: dict[str, str] | None = None) -> list[str]:
    """Return the causes of the problems; there must be no files then."""
    result = apply_edits(files, edits, hashes)
    assert not (result.files and result.problems)
    return [problem.cause for problem in result.problems]


def test_a_unique_text_is_replaced():
    result = apply_edits({"a.rs": MAIN}, [TextEdit("a.rs", "one()", "three()")])

    assert result.files == {"a.rs": MAIN.replace(b"one", b"three")}
    assert diff_summary({"a.rs": MAIN}, result.files) == "a.rs: +1 -1\n"


def test_a_range_is_replaced_through_its_end():
    result = apply_edits({"a.rs": MAIN}, [TextEdit("a.rs", "    one", "    zero();\n", until="two();\n")])

    assert result.files == {"a.rs": b"fn main() {\n    zero();\n}\n"}


@pytest.mark.parametrize(
    ("edit", "cause"),
    [
        (TextEdit("a.rs", "four", ""), "not found"),
        (TextEdit("a.rs", "();", ""), "several matches"),
        (TextEdit("a.rs", "", "x"), "empty"),
        (TextEdit("a.rs", "one", "", until="zero"), "range"),
        (TextEdit("a.rs", "main", "", until="();"), "range"),
        (TextEdit("b.rs", "one", ""), "no file"),
        (TextEdit("../a.rs", "one", ""), "outside"),
        (TextEdit("/a.rs", "one", ""), "outside"),
        (TextEdit("src/../../a.rs", "one", ""), "outside"),
        (TextEdit("src\\a.rs", "one", ""), "outside"),
        (TextEdit("", "one", ""), "outside"),
        (TextEdit("latin.rs", "one", ""), "not UTF-8"),
    ],
)
def test_an_edit_is_refused(edit: TextEdit, cause: str):
    assert causes({"a.rs": MAIN, "latin.rs": b"// \xe9\none\n"}, edit) == [cause]


def test_all_files_are_edited_or_none():
    good, bad = TextEdit("a.rs", "one", "three"), TextEdit("b.rs", "one", "three")

    assert causes({"a.rs": MAIN, "b.rs": b""}, good, bad) == ["not found"]
    assert set(apply_edits({"a.rs": MAIN, "b.rs": MAIN}, [good, bad]).files) == {"a.rs", "b.rs"}


def test_a_file_that_changed_after_it_was_read_is_stale():
    edit, hashes = TextEdit("a.rs", "one", "three"), {"a.rs": content_hash(MAIN)}

    assert causes({"a.rs": MAIN + b"\n"}, edit, hashes=hashes) == ["stale"]
    assert causes({"a.rs": MAIN}, edit, hashes=hashes) == []


def test_a_problem_says_what_to_do():
    (problem,) = apply_edits({"a.rs": MAIN}, [TextEdit("a.rs", "();", "")]).problems

    assert str(problem) == "edit 1: a.rs: the text to replace occurs 2 times; add lines around it"


def test_occurrences_that_overlap_are_several():
    assert causes({"a": b"aaa"}, TextEdit("a", "aa", "b")) == ["several matches"]


def test_edits_that_overlap_are_refused_and_those_that_touch_are_not():
    assert causes({"a": b"abcd"}, TextEdit("a", "abc", "x"), TextEdit("a", "cd", "y")) == ["overlap"]
    assert causes({"a": b"abcd"}, TextEdit("a", "ab", "x"), TextEdit("a", "ab", "y")) == ["overlap"]
    assert apply_edits({"a": b"abcd"}, [TextEdit("a", "cd", "y"), TextEdit("a", "ab", "x")]).files == {"a": b"xy"}


def test_an_edit_does_not_see_the_result_of_another():
    edits = [TextEdit("a", "x", "y"), TextEdit("a", "y", "x")]

    assert apply_edits({"a": b"x y"}, edits).files == {"a": b"y x"}


def test_windows_line_ends_are_preserved():
    windows = MAIN.replace(b"\n", b"\r\n")
    edit = TextEdit("a.rs", "    one();\n    two();\n", "    three();\n    four();\n")

    changed = apply_edits({"a.rs": windows}, [edit]).files["a.rs"]
    assert changed == b"fn main() {\r\n    three();\r\n    four();\r\n}\r\n"


def test_mixed_line_ends_must_match_exactly():
    mixed = b"one();\r\ntwo();\nthree();\r\n"

    assert causes({"a": mixed}, TextEdit("a", "one();\ntwo();", "x")) == ["not found"]
    assert apply_edits({"a": mixed}, [TextEdit("a", "one();\r\ntwo();", "x")]).files == {"a": b"x\nthree();\r\n"}


def test_a_missing_final_newline_stays_missing():
    assert apply_edits({"a": b"one\ntwo"}, [TextEdit("a", "two", "three")]).files == {"a": b"one\nthree"}
    assert causes({"a": b"one\ntwo"}, TextEdit("a", "two\n", "three\n")) == ["not found"]


def test_an_edit_that_changes_nothing_changes_no_file():
    assert apply_edits({"a": b"one"}, [TextEdit("a", "one", "one")]) == ({}, ())


@given(st.lists(st.text("ab\r\n\u00e9", min_size=1, max_size=4), min_size=1, max_size=4, unique=True), st.data())
def test_the_order_of_edits_does_not_matter(parts: list[str], data: st.DataObject):
    text = "".join(data.draw(st.permutations(parts)))
    edits = [TextEdit("a", part, f"<{number}>") for number, part in enumerate(parts)]
    results = [apply_edits({"a": text.encode()}, order) for order in permutations(edits)]

    assert {tuple(sorted(result.files.items())) for result in results} == {tuple(sorted(results[0].files.items()))}


@given(st.text(max_size=20), st.text(min_size=1, max_size=3), st.text(max_size=5))
def test_what_surrounds_the_match_is_unchanged(text: str, search: str, replacement: str):
    result = apply_edits({"a": text.encode()}, [TextEdit("a", search, replacement)])

    if text.count(search) != 1 or result.problems:
        assert not result.files
    elif "\r\n" not in text:
        assert result.files.get("a", text.encode()).decode() == text.replace(search, replacement)
