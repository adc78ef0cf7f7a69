"""Newlines and line splices are read as the C compiler reads them: checked against gcc itself."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jarvis_workers.source.lex import comments, compiler_newlines, mask
from tests.support.servers import missing

SPLICES = ("\\\n", "\\\r\n", "\\ \t\n", "\\\r")
CASES = {
    "line comment ends at a lone carriage return": "// note\r    a;\nb;\n",
    "carriage return in a block comment": "/* x\r y \r\n z */ a;\rb;\n",
    "carriage return in code": "a\r = \r b;\n",
    "carriage return ends a directive": "#define M 1 \r a;\nb;\n",
    "backslash and white space continue a line comment": "// x \\ \t\na;\nb;\n",
    "line comment that ends in a blank continuation": "// x \\\n\na;\n",
    "opening mark of a block comment": "/%s* a; */ b;\n",
    "opening mark of a line comment": "/%s/ a; \nb;\n",
    "closing mark of a block comment": "/* a; *%s/ b;\n",
    "closing mark, two splices and many stars": "/* a ***%s%s/ b;\n",
    "no closing mark": "/*%s/ a; */ b;\n",
    "stars on both sides of a splice": "/* a *%s*/ b;\n",
    "string with a splice": 's = "a%sb // c"; d;\n',
    "string with an escape in two parts": 's = "a\\%s" // c"; d;\n',
    "character with an escape in two parts": "c = '\\%s''; // d\ne;\n",
    "condition in two parts": "#if %s0\na;\n#else\nb;\n#endif\nc;\n",
    "hash and word apart": "#%sif 0\na;\n#endif\nb;\n",
    "directive in a continued macro": "#define M x; %s#if 0\na;\n#define N %s#endif\nb;\n",
    "condition behind a comment": "/* a\n*/ #if 0\nb;\n#endif\nc;\n",
}
PROGRAMS = [(name, text.replace("%s", splice)) for name, text in CASES.items() for splice in SPLICES]
WORD = re.compile(rb"\b[a-e]\b")


def words_with_lines(program: str) -> list[tuple[str, int]]:
    """Return the words that are code to us, each with its line."""
    content = compiler_newlines(program.encode(), "c/cpp")
    text = mask(content, "c/cpp").text
    return [(match[0].decode(), content.count(b"\n", 0, match.start()) + 1) for match in WORD.finditer(text)]


def words_to_gcc(directory: Path, program: str) -> list[tuple[str, int]]:
    """Return the words that are code to gcc, each with its line by the markers of `gcc -E`."""
    (directory / "a.c").write_bytes(program.encode())
    done = subprocess.run(["gcc", "-E", "-w", "a.c"], cwd=directory, capture_output=True, check=True)
    found, line, ours = [], 0, False
    for row in done.stdout.split(b"\n"):
        marker = re.match(rb'# (\d+) "(.*?)"', row)
        if marker:
            line, ours = int(marker[1]) - 1, marker[2] == b"a.c"
            continue
        line += 1
        bare = re.sub(rb'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'', b"", row)
        found += [(match[0].decode(), line) for match in WORD.finditer(bare) if ours]
    return found


@pytest.mark.parametrize(("name", "program"), dict.fromkeys(PROGRAMS))
def test_comments_literals_and_dead_code_are_those_of_gcc(name: str, program: str, tmp_path: Path) -> None:
    if not shutil.which("gcc"):
        missing("gcc")

    expected = words_to_gcc(tmp_path, program)

    assert expected
    assert words_with_lines(program) == expected


@given(st.lists(st.sampled_from([b"\r", b"\n", b"\r\n", b"a", b"//", b'"'])).map(b"".join))
def test_lone_carriage_returns_become_newlines_and_nothing_moves(content: bytes) -> None:
    text = compiler_newlines(content, "c/cpp")

    assert len(text) == len(content)
    assert text.replace(b"\r\n", b"\n") == content.replace(b"\r\n", b"\n\0").replace(b"\r", b"\n").replace(b"\0", b"")
    assert compiler_newlines(content, "rust") == content


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b"// a\\ \n b\nc", [b"// a\\ \n b"]),
        (b"/\\\n* a *\\\r\n/ b", [b"/\\\n* a *\\\r\n/"]),
        (b"/\\\n/ a\nb", [b"/\\\n/ a"]),
        (b'"/\\\n* a" /* b **\\\n\\\n/ c', [b"/* b **\\\n\\\n/"]),
    ],
)
def test_comments_with_spliced_marks_are_found_whole(content: bytes, found: list[bytes]) -> None:
    assert [content[start:end] for start, end in comments(content, "c/cpp")] == found
