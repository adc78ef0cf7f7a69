"""What the compiler reads is scanned and shown, whatever a reader sees."""

import pytest

from jarvis_workers.sec.judge.slices.views import deciding_view, view_with_comments
from jarvis_workers.sec.report.excerpts import window
from jarvis_workers.sec.scanner import Scanner, source_text
from jarvis_workers.source.match import engines

HEAD = b"#include <string.h>\nint main(int argc, char **argv)\n{\n    char b[8];\n"
TAIL = b"\n    return 0;\n}\n"
HIDDEN = {
    b"    // note\r    strcpy(b, argv[1]);": 6,
    b"    /* note *\\\n/ strcpy(b, argv[1]);": 6,
    b"    // note \\  \n  still a note\n    strcpy(b, argv[1]);": 7,
    b"#define M \\\n#if 0\n    strcpy(b, argv[1]);\n#define N \\\n#endif": 7,
}


def fired(content: bytes, engine: str | None = None) -> set[tuple[str, int]]:
    return {(hit.pattern, hit.line) for hit in Scanner(engine).scan(content, language="c/cpp").hits}


@pytest.mark.parametrize("engine", engines())
@pytest.mark.parametrize(("code", "line"), HIDDEN.items())
def test_a_call_that_only_the_compiler_sees_is_found_on_its_line(code: bytes, line: int, engine: str) -> None:
    assert ("unsafe_api", line) in fired(HEAD + code + TAIL, engine)


@pytest.mark.parametrize(
    "comment",
    [
        b"    /\\\n* if (strlen(argv[1]) > 7) return 1; *\\\n/",
        b"    /\\\n/ if (strlen(argv[1]) > 7) return 1;",
        b"    // checked: \\ \n    if (strlen(argv[1]) > 7) return 1;",
        b"#if \\\n0\n    if (strlen(argv[1]) > 7) return 1;\n#endif",
    ],
)
def test_a_check_that_the_compiler_does_not_see_is_not_in_the_deciding_view(comment: bytes) -> None:
    content = source_text(HEAD + comment + b"\n    strcpy(b, argv[1]);" + TAIL, "c/cpp")

    view = deciding_view(content, "c/cpp")
    assert b"strlen" not in view
    assert b"strcpy(b, argv[1]);" in view


def test_the_views_show_the_code_behind_a_lone_carriage_return_as_code() -> None:
    content = source_text(b"// note\r    strcpy(b, c);\n", "c/cpp")

    assert deciding_view(content, "c/cpp").split(b"\n")[1] == b"    strcpy(b, c);"
    assert view_with_comments(content, "c/cpp").split(b"\n") == [b"// note", b"    strcpy(b, c);", b""]


def test_a_comment_of_rust_goes_on_behind_a_lone_carriage_return() -> None:
    content = b"// note\r unsafe { f() }\nfn g() {}\n"

    assert source_text(content, "rust") == content
    assert b"unsafe" not in deciding_view(content, "rust")


def test_excerpts_number_lines_as_the_scan_does() -> None:
    content = b"// note\r    strcpy(b, c);\nint d;\n"
    ((_, line),) = (one for one in fired(content) if one[0] == "unsafe_api")

    excerpt = window(source_text(content, "c/cpp"), line, 0)
    assert excerpt is not None
    assert excerpt.lines == ("strcpy(b, c);",)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("content", "lines"),
    [
        (b"int a;\n// note\r    f();\n", [3]),
        (b"int a;\r\nint b;\r\n", []),
        (b"int a;\rint b;\r", []),
        (b"int a;\r\r\nint b;\r\r\n", []),
        ("// \u202e\nint a;\n".encode(), [1]),
        ("// \u05d0\u05d1\nint a;\n".encode(), []),
        (b"st\\\nrcpy(a, b);\n", [1]),
        (b"f(\\\na, b);\n", []),
        (b'char *a = "b\\\nc";\n', []),
    ],
)
def test_trojan_source_is_told_where_it_hides_something(content: bytes, lines: list[int]) -> None:
    assert sorted(line for pattern, line in fired(content) if pattern == "trojan_source") == lines


def test_control_characters_that_are_closed_on_their_line_weigh_less() -> None:
    def confidence(text: str) -> float:
        return Scanner().scan(text.encode(), language="c/cpp").hits[0].confidence

    assert confidence('char *a = "\u2067\u05d0\u2069";\n') < 0.6
    assert confidence('char *a = "\u2067\u05d0";\n') > 0.8


def test_a_file_full_of_control_characters_is_told_of_a_hundred_times() -> None:
    content = "// \u202e\n".encode() * 1_000

    assert len(Scanner().scan(content, language="c/cpp").hits) == 100
