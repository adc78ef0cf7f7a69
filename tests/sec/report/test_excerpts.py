"""The code around findings: which findings get it, what is cut out, and where it ends."""

from jarvis_workers.sec.report.excerpts import WIDTH, Excerpt, best_by_file, bounded, cut


def issue(name, line=1, score=1.0, file="a.c"):
    return {"id": name, "line": line, "score": score, "file": file}


def lines_of(content, line):
    return cut(content, [issue("C1", line)])["C1"]


def test_the_line_stands_among_its_neighbours():
    content = b"\n".join(b"line %d" % number for number in range(1, 31))

    assert lines_of(content, 15) == Excerpt(11, tuple(f"line {number}" for number in range(11, 20)))


def test_at_the_ends_of_a_file_there_are_fewer_lines():
    content = b"one\ntwo\nthree"

    assert lines_of(content, 1) == Excerpt(1, ("one", "two", "three"))
    assert lines_of(content, 3) == Excerpt(1, ("one", "two", "three"))
    assert cut(content, [issue("C1", 4)]) == {}


def test_common_indentation_is_left_out():
    assert lines_of(b"\t\tif (a)\r\n\t\t\tb();\r\n\r\n", 2).lines == ("if (a)", "    b();", "", "")


def test_long_lines_and_odd_bytes_are_bounded_and_visible():
    first, second = lines_of(b"x" * 5_000 + b"\n\xff\x00\xe2\x80\xae</script>", 1).lines

    assert len(first) == WIDTH
    assert first.endswith("x…")
    assert second == "\\xff\\x00\\u202e</script>"


def test_wide_encodings_are_read_as_the_scanner_reads_them():
    assert lines_of("int a;\nchar *ü;\n".encode("utf-16"), 2).lines == ("int a;", "char *ü;", "")


def test_the_best_findings_come_first():
    issues = [issue("C1", score=1), issue("C2", score=3, file="b.c"), issue("C3", score=2), issue("C4", score=3)]

    assert best_by_file(issues, 3) == {"b.c": [issues[1]], "a.c": [issues[3], issues[2]]}


def test_all_excerpts_together_are_bounded_the_best_first():
    issues = [issue("C1", score=1), issue("C2", score=3), issue("C3", score=2), issue("C4", score=9)]
    excerpts = {name: Excerpt(1, ("x" * 40,)) for name in ("C1", "C2", "C3")}

    assert list(bounded(excerpts, issues, 100)) == ["C2", "C3"]
