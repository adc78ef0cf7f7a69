"""The code around findings: which findings get it, what is cut out, and where it ends."""

import pytest

from jarvis_workers.sec.report.excerpts import LINES_MAX, MORE_MAX, WIDTH, bounded, cut, spots_by_file
from jarvis_workers.sec.report_document import Excerpt
from tests.support.issues import FACTS, issue_of


def issue(name, line=1, score=1.0, file="a.c", **facts):
    return issue_of({**FACTS, "id": name, "line": line, "score": score, "file": file, "has_risk": True, **facts})


def quote(line, text="x", file="a.c"):
    return {"file": file, "line": line, "quote": text}


def step(line, file="a.c"):
    return {"file": file, "line": line, "note": "x"}


def code(*files):
    return {name: b"\n".join(b"%d" % number for number in range(1, lines + 1)) for name, lines in files}


def excerpts(files, *issues, most=10_000):
    spots = spots_by_file(issues)
    return bounded({file: cut(content, spots[file]) for file, content in files.items() if file in spots}, issues, most)


def lines_of(content, line):
    return excerpts({"a.c": content}, issue("C1", line))["C1"]


def test_the_line_stands_among_its_neighbours():
    content = b"\n".join(b"line %d" % number for number in range(1, 31))

    assert lines_of(content, 15) == Excerpt(11, tuple(f"line {number}" for number in range(11, 20)))


def test_at_the_ends_of_a_file_there_are_fewer_lines():
    content = b"one\ntwo\nthree"

    assert lines_of(content, 1) == Excerpt(1, ("one", "two", "three"))
    assert lines_of(content, 3) == Excerpt(1, ("one", "two", "three"))
    assert excerpts({"a.c": content}, issue("C1", 4, quotes=[quote(1)])) == {}


def test_common_indentation_is_left_out():
    assert lines_of(b"\t\tif (a)\r\n\t\t\tb();\r\n\r\n", 2).lines == ("if (a)", "    b();", "", "")


def test_long_lines_and_odd_bytes_are_bounded_and_visible():
    first, second = lines_of(b"x" * 5_000 + b"\n\xff\x00\xe2\x80\xae</script>", 1).lines

    assert len(first) == WIDTH
    assert first.endswith("x…")
    assert second == "\\xff\\x00\\u202e</script>"


def test_wide_encodings_are_read_as_the_scanner_reads_them():
    assert lines_of("int a;\nchar *ü;\n".encode("utf-16"), 2).lines == ("int a;", "char *ü;", "")


def test_what_is_quoted_nearby_is_marked_in_the_same_piece():
    found = excerpts(code(("a.c", 99)), issue("C1", 40, quotes=[quote(35, "a\nb")], path=[step(36), step(40)]))["C1"]

    assert (found.first, found.lines[-1]) == (33, "44")
    assert found.marks == ((35, "quote"), (36, "quote"))
    assert found.more == ()


def test_what_is_quoted_elsewhere_is_a_piece_of_its_own_with_its_file():
    files = code(("a.c", 99), ("b.c", 9))
    found = excerpts(files, issue("C1", 40, quotes=[quote(80), quote(2, file="b.c")], path=[step(4, "b.c")]))["C1"]

    assert (found.first, len(found.lines), found.file) == (36, 9, "")
    assert [(piece.file, piece.first, piece.marks) for piece in found.more] == [
        ("a.c", 78, ((80, "quote"),)),
        ("b.c", 1, ((2, "quote"), (4, "step"))),
    ]


@pytest.mark.parametrize("line", [0, -5, 10**9])
def test_a_quote_beyond_its_file_shows_nothing(line):
    found = excerpts(
        code(("a.c", 20)), issue("C1", 3, quotes=[quote(line, "a\n" * 600, "a.c"), quote(1, file="gone.c")])
    )

    assert found["C1"].more == ()


def test_the_pieces_of_one_finding_are_bounded():
    far = issue("C1", 1, path=[step(100 * number) for number in range(1, 30)])
    near = issue("C2", 1, path=[step(2 * number) for number in range(1, 200)], quotes=[quote(50, "a\n" * 600)])
    found = excerpts(code(("a.c", 3_000)), far, near)

    assert len(found["C1"].more) == MORE_MAX
    assert all(len(piece.lines) <= LINES_MAX for one in found.values() for piece in (one, *one.more))


def test_the_best_findings_come_first():
    issues = [issue("C1", score=1), issue("C2", score=3, file="b.c"), issue("C3", score=2), issue("C4", score=3)]
    spots = spots_by_file(issues, 3)

    assert {file: [spot.id for spot in theirs] for file, theirs in spots.items()} == {
        "b.c": ["C2"],
        "a.c": ["C4", "C3"],
    }


def test_all_excerpts_together_are_bounded_the_best_first():
    issues = [issue("C1", score=1), issue("C2", score=3), issue("C3", score=2), issue("C4", 9, score=9)]

    assert list(excerpts({"a.c": b"x" * 40}, *issues, most=100)) == ["C2", "C3"]


def test_pieces_of_one_file_never_show_a_line_twice():
    steps = [step(line) for line in range(2, 200, 3)]
    (found,) = excerpts(code(("a.c", 300)), issue("C1", 100, path=steps[:20])).values()
    lines = [number for one in (found, *found.more) for number in range(one.first, one.first + len(one.lines))]

    assert len(lines) == len(set(lines))
