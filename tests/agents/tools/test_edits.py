"""Edits of files: unique match, all or none, and no edit of content that the author has not read."""

from collections import Counter
from itertools import permutations
from random import Random
from textwrap import dedent

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jarvis_workers.agents.tools.edits import TextEdit, apply_edits, content_hash, diff_summary, is_binary

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
        (TextEdit("wide.rs", "one", ""), "binary"),
        (TextEdit("a.rs", "one", "\udce9"), "not text"),
        (TextEdit("a.rs", "one", "x", lines=(3, 4)), "not found"),
        (TextEdit("a.rs", "one", "x", lines=(3, 2)), "lines"),
        (TextEdit("a.rs", "one", "x", lines=(0, 2)), "lines"),
        (TextEdit("a.rs", "one", "x", lines=(1, 5)), "lines"),
        (TextEdit("a.rs", "one", "x", until="}", lines=(1, 3)), "range"),
        (TextEdit("a.rs", "      one();", "three();"), "indentation"),
        (TextEdit("a.rs", "    one();", "x", until="      two();"), "indentation"),
    ],
)
def test_an_edit_is_refused(edit: TextEdit, cause: str):
    assert causes({"a.rs": MAIN, "wide.rs": "one".encode("utf-16")}, edit) == [cause]


def test_lines_choose_one_of_several_places():
    edit = TextEdit("a.rs", "();", "(1);", lines=(2, 2))

    assert apply_edits({"a.rs": MAIN}, [edit]).files == {"a.rs": MAIN.replace(b"one()", b"one(1)")}


def test_trailing_white_space_is_ignored_where_the_text_is_not_there_exactly():
    edit = TextEdit("a", "one  \ntwo\n", "three\n")

    assert apply_edits({"a": b"one\ntwo \t\n"}, [edit]).files == {"a": b"three\n"}
    assert apply_edits({"a": b"one\ntwo \none  \ntwo\n"}, [edit]).files == {"a": b"one\ntwo \nthree\n"}
    assert causes({"a": b"one\ntwo \none\ntwo \n"}, edit) == ["several matches"]


def test_lines_that_are_all_indented_otherwise_are_replaced_with_the_indentation_of_the_file():
    edit = TextEdit("a.rs", "one();\n\n  two();\n", "three();\n  four();\n\n")

    assert apply_edits({"a.rs": b"{\n\tone();\n\n\t  two();\n}\n"}, [edit]).files == {
        "a.rs": b"{\n\tthree();\n\t  four();\n\n}\n"
    }
    assert apply_edits(
        {"a.rs": b"x\none();\ntwo();\n"}, [TextEdit("a.rs", "  one();\n  two();", "  three();\n    four();")]
    ).files == {"a.rs": b"x\nthree();\n  four();\n"}
    assert causes({"a.rs": b"{\n    one();\n\n    two();\n}\n"}, edit) == ["not found"]
    assert causes({"a.rs": b"\tone();\n"}, TextEdit("a.rs", "    one();", "x")) == ["not found"]


def test_bytes_that_are_not_utf8_and_a_byte_order_mark_are_preserved():
    edit = TextEdit("a", "one\n", "\u00e9\n")

    assert apply_edits({"a": b"// \xe9\none\n"}, [edit]).files == {"a": b"// \xe9\n\xc3\xa9\n"}
    assert apply_edits({"a": b"\xef\xbb\xbfone\n"}, [edit]).files == {"a": b"\xef\xbb\xbf\xc3\xa9\n"}


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


def test_among_mixed_line_ends_a_replacement_has_those_of_its_place():
    mixed = b"one();\r\ntwo();\nthree();\r\n"

    assert apply_edits({"a": mixed}, [TextEdit("a", "one();\ntwo();", "x\ny")]).files == {"a": b"x\r\ny\nthree();\r\n"}
    assert apply_edits({"a": mixed}, [TextEdit("a", "one();\r\ntwo();", "x")]).files == {"a": b"x\nthree();\r\n"}


def test_a_missing_final_newline_stays_missing():
    assert apply_edits({"a": b"one\ntwo"}, [TextEdit("a", "two", "three")]).files == {"a": b"one\nthree"}
    assert apply_edits({"a": b"one\ntwo"}, [TextEdit("a", "two\n", "three\n")]).files == {"a": b"one\nthree"}


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
    places = sum(text.startswith(search, at) for at in range(len(text)))

    if places > 1 or is_binary(text.encode()):
        assert not result.files
        assert result.problems
    elif places == 1 and "\r" not in text + search + replacement:
        assert not result.problems
        assert result.files.get("a", text.encode()).decode() == text.replace(search, replacement)


LINES = st.lists(st.text("ab {}\u00e9\t", max_size=4), min_size=1, max_size=6).map("\n".join)


@given(LINES, LINES, LINES, LINES)
def test_an_edit_that_applies_is_undone_by_its_inverse(before: str, search: str, replacement: str, after: str):
    files = {"a": f"{before}{search}{after}".encode()}
    edit, inverse = TextEdit("a", search, replacement), TextEdit("a", replacement, search)
    result = apply_edits(files, [edit])

    if result.files and result.files["a"].count(replacement.encode()) == 1:
        assert apply_edits(result.files, [inverse]).files == files


@given(LINES, st.text("ab", min_size=1, max_size=3), LINES)
def test_an_edit_that_removes_its_text_applies_once(before: str, search: str, after: str):
    edit = TextEdit("a", f"<{search}>", "<>")
    once = apply_edits({"a": f"{before}<{search}>{after}".encode()}, [edit])

    assert once.files
    assert causes(dict(once.files), edit) == ["not found"]


STATEMENTS = ("x = {};", "call({}, y);", "if (a[{}]) {{", "}}", "return {};", "", "/* {} */", "  nested({});")
DISTORTIONS = ("none", "trailing", "deeper", "flatter", "letter", "dropped line", "uneven")


def distorted(random: Random, how: str, lines: list[str]) -> list[str]:
    """Return what a model may have made of lines that it copied."""
    at = random.randrange(len(lines))
    changed = {"letter": [f"{lines[at]}x"], "dropped line": [], "uneven": [f" {lines[at]}"]}
    if how in changed:
        return [*lines[:at], *changed[how], *lines[at + 1 :]]
    if how == "trailing":
        return [line + random.choice(["", " ", "\t"]) for line in lines]
    if how == "deeper":
        return ["  " + line if line else line for line in lines]
    return [line.removeprefix("  ") for line in lines] if how == "flatter" else lines


def test_none_of_500_edits_with_similar_places_lands_in_a_wrong_one():
    random, applied = Random(7), Counter[str]()
    for number in range(500):
        lines = ["  " * random.randrange(3) + random.choice(STATEMENTS).format(random.randrange(9)) for _ in range(40)]
        first = random.randrange(36)
        part, how = lines[first : first + random.randrange(1, 5)], DISTORTIONS[number % len(DISTORTIONS)]
        text, search = "\n".join(lines), "\n".join(distorted(random, how, part))
        replacement = "  NEW" if how == "deeper" else "NEW"
        files = apply_edits({"a": text.encode()}, [TextEdit("a", search, replacement)]).files
        if not files:
            continue
        applied[how] += 1
        left, _, right = files["a"].decode().partition("NEW")
        if search in text:
            assert text == f"{left.removesuffix(replacement[:-3])}{search}{right}"
            continue
        replaced = text.removeprefix(left.rstrip(" ")).removesuffix(right)
        assert shape(replaced) == shape(search), how
        if how == "trailing":
            assert replaced.split("\n") == part

    assert all(applied[how] > 15 for how in ("none", "trailing", "deeper", "flatter"))


def shape(text: str) -> list[str]:
    """Return the lines of a text without what an edit may ignore: trailing white space, and a common indentation."""
    return [line.rstrip() for line in dedent("\n".join(line.rstrip() for line in text.split("\n"))).split("\n")]
