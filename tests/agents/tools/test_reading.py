"""read_code, search_code, list_files: lines with numbers, comments blanked, bounded, and never outside of the tree."""

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from jarvis_workers.agents.tools.listing import PATHS_MAX, DirectoryTree, list_files
from jarvis_workers.agents.tools.reading import MOST_LINES, View, blank_comments, read_code
from jarvis_workers.agents.tools.searching import MATCHES_MAX, search_code
from jarvis_workers.agents.tools.tool import Toolbox

CODE = """int f(char *d) { /* the caller
   has checked d */
    strcpy(d, s); // safe
    return 0;
}
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A tree with a secret beside it."""
    (tmp_path / "secret").write_text("the secret")
    root = tmp_path / "root"
    (root / "src").mkdir(parents=True)
    (root / "a.c").write_text(CODE)
    (root / "src" / "b.rs").write_text("fn main() {} // main\n")
    return root


def box(root: Path, view: View = "raw") -> Toolbox:
    tree = DirectoryTree(root)
    return Toolbox([read_code(tree, view), search_code(tree), list_files(tree)])


def read(root: Path, view: View = "raw", **wanted: Any) -> str:
    outcome = box(root, view).run("read_code", wanted)
    return outcome.text()


def ask(root: Path, tool: str, **wanted: Any) -> list[str]:
    return box(root).run(tool, wanted).text().split("\n")


def search(root: Path, **wanted: Any) -> list[str]:
    return ask(root, "search_code", **wanted)


def test_lines_are_numbered(root: Path) -> None:
    assert read(root, path="a.c").split("\n") == [
        "a.c: lines 1-5 of 5",
        "    1| int f(char *d) { /* the caller",
        "    2|    has checked d */",
        "    3|     strcpy(d, s); // safe",
        "    4|     return 0;",
        "    5| }",
    ]


def test_a_range_is_read(root: Path) -> None:
    assert read(root, path="a.c", start_line=3, end_line=3).split("\n")[1:] == ["    3|     strcpy(d, s); // safe"]
    assert read(root, path="a.c", start_line=4, end_line=99).startswith("a.c: lines 4-5 of 5\n")
    assert read(root, path="./a.c", start_line=5).endswith("    5| }")


@pytest.mark.parametrize(
    ("start", "end", "says"), [(6, -1, "has 5 lines"), (3, 2, "comes after"), (0, 1, "start_line")]
)
def test_a_range_that_is_none_is_an_error(root: Path, start: int, end: int, says: str) -> None:
    assert says in read(root, path="a.c", start_line=start, end_line=end)


def test_comments_are_blanked_and_the_lines_stay_where_they_are(root: Path) -> None:
    lines = read(root, "blanked", path="a.c").split("\n")

    assert lines[1:4] == ["1| int f(char *d) {", "3|     strcpy(d, s);", "4|     return 0;"]


def test_what_is_left_out_of_literals_leaves_no_blanks_behind(root: Path) -> None:
    (root / "b.c").write_text('f("could not open[…]          ");\n\n\ng("a  b");\n')

    assert read(root, "blanked", path="b.c").split("\n")[1:] == ['1| f("could not open[…]");', '4| g("a  b");']


def test_comments_are_told_apart_when_asked_for(root: Path) -> None:
    said = read(root, "blanked", path="a.c", comments=True)

    claims = said.split("claims")[1]
    assert "    1| /* the caller has checked d */\n    3| // safe" in claims
    assert "safe" not in said.split("comments (claims")[0]
    assert "has checked" not in read(root, "blanked", path="a.c", start_line=3, comments=True)
    assert "claims" not in read(root, "blanked", path="a.c", start_line=4, comments=True)


def test_blanking_keeps_the_length_and_the_strings() -> None:
    for language, content in (("c/cpp", CODE.encode()), ("rust", b'let s = "// no"; /* a /* b */ c */ x')):
        blanked = blank_comments(content, language)
        assert len(blanked) == len(content)
        assert [len(line) for line in blanked.split(b"\n")] == [len(line) for line in content.split(b"\n")]
    assert blank_comments(b'let s = "// no"; // yes', "rust") == b'let s = "// no";       '


def test_a_long_file_is_read_in_parts(root: Path) -> None:
    (root / "long.c").write_text("int x;\n" * 1_000)
    (root / "wide.c").write_text("y" * 5_000 + "\n" + "z" * 500 + "\n" * 3)
    (root / "wider.c").write_text(("w" * 500 + "\n") * 100)

    assert read(root, path="long.c").startswith(f"long.c: lines 1-{MOST_LINES} of 1000; for more, start at line 401")
    assert len(read(root, path="wide.c")) < 1_500
    assert "4400 characters more" in read(root, path="wide.c")
    assert "; for more, start at line 24" in read(root, path="wider.c")


def test_bytes_that_are_no_text_are_shown(root: Path) -> None:
    (root / "b.c").write_bytes(b"\xff\xfe\r\nx")
    (root / "empty.c").write_bytes(b"")

    assert read(root, path="b.c").split("\n")[1:] == ["    1| \\xff\\xfe", "    2| x"]
    assert read(root, path="empty.c").startswith("empty.c: lines 1-1 of 1")


ESCAPES = (
    "../secret",
    "src/../../secret",
    "/etc/passwd",
    "",
    ".",
    "src//b.rs",
    "src/./b.rs",
    "a.c\0",
    "link",
    "linked/secret",
    "src",
    "fifo",
)


@pytest.mark.parametrize("path", ESCAPES)
def test_nothing_outside_is_read(root: Path, path: str) -> None:
    (root / "link").symlink_to(root.parent / "secret")
    (root / "linked").symlink_to(root.parent)
    os.mkfifo(root / "fifo")

    said = read(root, path=path)

    assert said.startswith("[error] ")
    assert "the secret" not in said
    assert not any("secret" in line for line in search(root, pattern="secret"))


def test_a_name_that_is_no_text_is_found_and_read(root: Path) -> None:
    Path(os.fsdecode(os.fsencode(root) + b"/n\xff.c")).write_text("int odd;\n")

    [found] = search(root, pattern="odd")

    assert found == "n\\xff.c:1: int odd;"
    assert "int odd;" in read(root, path="n\\xff.c")


def test_matching_lines_are_found_in_order(root: Path) -> None:
    assert search(root, pattern=r"(strcpy|main)\(") == [
        "a.c:3: strcpy(d, s); // safe",
        "src/b.rs:1: fn main() {} // main",
    ]
    assert search(root, pattern="STRCPY", ignore_case=True)[0].startswith("a.c:3")
    assert search(root, pattern="main", files="*.c") == ["no line matches"]
    assert search(root, pattern="^}$") == ["a.c:5: }"]


def test_of_a_long_line_that_matches_the_beginning_is_shown_and_the_rest_is_counted(root: Path) -> None:
    (root / "wide.c").write_text(f"int fit[] = {{{'0,' * 150}}};\n  int wide[] = {{{'0,' * 400}}};\n")

    fit, wide = search(root, pattern="int", files="wide.c")

    assert fit == f"wide.c:1: int fit[] = {{{'0,' * 150}}};"
    assert wide == f"wide.c:2: int wide[] = {{{'0,' * 293}[… 216 characters more]"


def test_a_search_is_bounded(root: Path) -> None:
    (root / "many.c").write_text("int x;\n" * 1_000)
    (root / "binary.c").write_bytes(b"int x;\0")
    (root / ".git").mkdir()
    (root / ".git" / "config").write_text("int x;")

    found = search(root, pattern="int x;")

    assert len(found) == MATCHES_MAX + 1
    assert "use a narrower pattern" in found[-1]
    assert not any("binary" in line or ".git" in line for line in found)


@pytest.mark.parametrize("engine", ["re2", "re"])
@pytest.mark.parametrize("pattern", ["f(char *d) {", "strcpy(", "strcpy(d, s); // safe", "d) {"])
def test_code_is_found_as_it_is_written(root: Path, pattern: str, engine: str, without_re2: None) -> None:
    line = "a.c:3: strcpy(d, s); // safe" if "strcpy" in pattern else "a.c:1: int f(char *d) { /* the caller"

    assert search(root, pattern=pattern)[-1] == line


@pytest.fixture
def without_re2(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide google-re2 from a test whose parameter `engine` is "re"."""
    if request.node.callspec.params["engine"] == "re":
        monkeypatch.setitem(sys.modules, "re2", None)


@pytest.mark.parametrize("engine", ["re2", "re"])
@pytest.mark.parametrize("pattern", ["str(cpy", "(?<=d)y", "a{1001}"])
def test_what_is_no_pattern_is_searched_as_it_is_and_that_is_told(
    root: Path, pattern: str, engine: str, without_re2: None
) -> None:
    remark, found = search(root, pattern=pattern)

    assert (remark[:26], found) == ("[searched as literal text:", "no line matches")


def test_a_pattern_that_is_too_long_is_an_error(root: Path) -> None:
    assert search(root, pattern="x" * 1_001)[0].startswith("[error] ")


@pytest.mark.parametrize("engine", ["re2", "re"])
def test_an_evil_pattern_costs_no_time(root: Path, engine: str, without_re2: None) -> None:
    (root / "evil.c").write_text("a" * 30_000 + "!")

    assert search(root, pattern="^(a+)+$")[-1] == "no line matches"


@pytest.mark.parametrize("engine", ["re2", "re"])
@pytest.mark.parametrize("pattern", [r"str(cpy|cat)\s*\(\s*d\s*,", r"^\s*strcpy.*;", "STRCPY", r"\bs[a-t]r\w+\("])
def test_a_simple_pattern_needs_no_re2(root: Path, pattern: str, engine: str, without_re2: None) -> None:
    assert search(root, pattern=pattern, ignore_case=True) == ["a.c:3: strcpy(d, s); // safe"]


@pytest.mark.parametrize(
    "pattern", [r"\bstrcpyx?\(", r"(?:strcpy)?\(d, s", "strcpy|nothing", r"[s]trcpy", r"s\x74rcpy", "strcpyz{0,1}"]
)
def test_no_file_is_passed_over_that_has_a_match(root: Path, pattern: str) -> None:
    assert search(root, pattern=pattern) == ["a.c:3: strcpy(d, s); // safe"]


def test_the_description_tells_what_can_be_searched(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "(RE2)" in box(root).tools[1].description
    monkeypatch.setitem(sys.modules, "re2", None)

    assert "(RE2)" not in box(root).tools[1].description
    assert "simple regular expression" in box(root).tools[1].description


def test_files_are_listed_and_many_are_counted(root: Path) -> None:
    assert ask(root, "list_files") == ["a.c", "src/b.rs"]
    assert ask(root, "list_files", files="*.rs") == ["src/b.rs"]
    assert ask(root, "list_files", files="*.py") == ["no file matches"]
    for number in range(PATHS_MAX):
        (root / "src" / f"{number}.c").write_text("")
    assert ask(root, "list_files") == ["202 files:", "./: 1 files", "src/: 201 files"]


def test_a_list_of_many_directories_is_bounded(root: Path) -> None:
    for number in range(PATHS_MAX + 1):
        (root / f"d{number:03}").mkdir()
        (root / f"d{number:03}" / "a.c").write_text("")

    listed = ask(root, "list_files")

    assert len(listed) == PATHS_MAX + 2
    assert listed[-1] == "[… 3 more directories; use a narrower pattern …]"


def test_a_file_that_cannot_be_read_is_told(root: Path) -> None:
    large = root / "large.c"
    with large.open("wb") as file:
        file.truncate(40 << 20)

    assert ", limit " in read(root, path="large.c")
    assert "not searched: large.c" in search(root, pattern="zzz")[0]
    assert "No such file" in read(root, path="missing.c")


def test_no_more_is_searched_than_is_bearable(root: Path) -> None:
    for number in range(3):
        with (root / f"{number}.c").open("wb") as file:
            file.write(b"x\n")
            file.truncate(30 << 20)

    assert "stopped at 2.c" in search(root, pattern="zzz")[-1]


def test_a_claim_too_many_is_left_out(root: Path) -> None:
    (root / "claims.c").write_text("int a; // " + "claim " * 80 + "\n")
    (root / "many.c").write_text(("int a; // " + "claim " * 80 + "\n") * 100)
    (root / "notes.txt").write_text("// not code\n")

    assert "omitted" not in read(root, "blanked", path="claims.c", comments=True)
    assert "more comments omitted" in read(root, "blanked", path="many.c", comments=True)
    assert "// not code" in read(root, "blanked", path="notes.txt")


@pytest.mark.parametrize("name", ["b.C", "b.CPP", "b.Hpp", "b.RS"])
def test_comments_are_blanked_whatever_the_case_of_the_suffix(root: Path, name: str) -> None:
    (root / name).write_text("int a; // said\n")

    assert "said" not in read(root, "blanked", path=name)


def test_code_behind_a_lone_carriage_return_is_on_a_line_of_its_own(root: Path) -> None:
    (root / "a.c").write_bytes(b"// note\r    strcpy(d, s);\nint b;\n")
    (root / "b.txt").write_bytes(b"one\rtwo\n")

    shown = read(root, "blanked", path="a.c")
    assert "2|     strcpy(d, s);" in shown
    assert "note" not in shown
    assert "a.c:2: strcpy(d, s);" in search(root, pattern="strcpy")
    assert "b.txt:1: one\rtwo" in search(root, pattern="two")
