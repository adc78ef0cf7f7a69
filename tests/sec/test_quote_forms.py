"""Quotes as models write them: one that stands once in the named file or function counts, others are explained."""

from pathlib import Path

import pytest

from jarvis_workers.agents.loop.prompts import fill_from
from jarvis_workers.sec.assessment import EvidenceQuote
from jarvis_workers.sec.judge import verification
from jarvis_workers.sec.judge.lost_quote import LostQuote
from jarvis_workers.sec.judge.quotes import called_lines, find_quote
from jarvis_workers.sec.judge.slices import CodeIndex, SliceTarget, cut
from jarvis_workers.sec.judge.verdict import Quote
from tests.sec.slicing import Files
from tests.sec.verifying import MARKS

NAMES = """#define ROOM 1024
static char *option;

static int turned(const char *path)
{
    int a,e;
    unsigned char buf[9];
    if (option == NULL) return FALSE;
    if (access(path, R_OK) != 0) {
        fail("cannot read", path);
        exit(EXIT_FAILURE);
    }
    a = e = 0;
    return FALSE;
}

static void rename_all(const char *path)
{
    char target[ROOM];
    int length = strlen(path);

    if (strlen(path) >= ROOM-1){
        /* it would not fit
           into the target */
        fail("path too long: \\"%s\\"", path); // and ends
        exit(-1);
    }
    strcpy(target, path);
    if (length > 4) {
        shorten(target);
        widen(target);
        report(target);
        check(target);
        turn(target);
        paint(target);
        fold(target);
        open_it(target);
        close_it(target);
        keep(target);
        drop(target);
        forget(target);
    }
    return FALSE;
}
"""
FILES = {
    "src/names.c": NAMES,
    "src/other.c": "int other(void)\n{\n    return FALSE;\n}\n",
    "README": "strcpy is safe here\n",
}
CHECK = "    if (strlen(path) >= ROOM-1){"
FAIL = '        fail("path too long: \\"%s\\"", path);'
COMMENT = "        /* it would not fit\n           into the target */"
LONG = NAMES[NAMES.index("    if (length > 4)") : NAMES.index("    return FALSE;\n}\n", NAMES.index("forget"))]
FUNCTION, FILE = "src/names.c#rename_all", "src/names.c"
FORMS = {
    "a whole line": (FUNCTION, 6, CHECK, 22),
    "two lines joined": (FUNCTION, 6, f"{CHECK} {FAIL}", 22),
    "lines around a comment that is shown as blank lines": (FUNCTION, 6, f"{CHECK}\n{FAIL}\n        exit(-1);", 22),
    "a range with a comment in it": (FUNCTION, 6, f"{CHECK}\n{COMMENT}\n{FAIL}", 22),
    "an ellipsis at the end": (FUNCTION, 6, "if (strlen(path) >= ROOM-1){ …", 22),
    "an ellipsis between two lines": (FUNCTION, 6, f"{CHECK}\n...\n        exit(-1);", 22),
    "as shown, with its gutter": (FUNCTION, 6, f"{MARKS.line}6|{CHECK}", 22),
    "a line of the file with the file": (FILE, 22, CHECK, 22),
    "a line of the file with a function": (FUNCTION, 22, CHECK, 22),
    "a line of the function with the file": (FILE, 6, CHECK, 22),
    "the line behind the function": (f"{FUNCTION}:6", 6, CHECK, 22),
    "the function without its file": ("rename_all", 6, CHECK, 22),
    "the base name of the file": ("names.c", 22, CHECK, 22),
    "without the brace": (FUNCTION, 6, "if (strlen(path) >= ROOM-1)", 22),
    "the condition alone": (FUNCTION, 6, "strlen(path) >= ROOM-1", 22),
    "four lines off": (FUNCTION, 10, CHECK, 22),
    "with a comment as in the file": (FUNCTION, 9, f"{FAIL} // and ends", 25),
    "in backquotes": (FUNCTION, 6, "`if (strlen(path) >= ROOM-1){`", 22),
    "quotes escaped twice": (FUNCTION, 9, FAIL.replace("\\", "\\\\").replace('"', '\\"'), 25),
    "a check with its return": ("src/names.c#turned", 99, "if (option == NULL) return FALSE;", 8),
    "a bare return, that stands once in its function": (FUNCTION, 1, "return FALSE;", 43),
    "an exit with a name": ("src/names.c#turned", 1, "exit(EXIT_FAILURE);", 11),
    "an exit with a number": (FUNCTION, 99, "exit(-1);", 26),
    "a declaration": (FILE, 1, "int a,e;", 6),
    "a declaration with a size": ("src/names.c#turned", 4, "unsigned char buf[9];", 7),
    "more than 13 lines": (FUNCTION, 13, LONG, 29),
}  # fmt: skip


@pytest.fixture(scope="module")
def index() -> CodeIndex:
    return CodeIndex(Files(FILES))


def find(index: CodeIndex, file: str, line: int, quote: str, *, dismisses: bool = False) -> EvidenceQuote | LostQuote:
    about = cut(index, [SliceTarget("src/names.c", 28)])
    return find_quote(index, about, Quote(file=file, line=line, quote=quote), dismisses=dismisses)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dismisses", [False, True])
def test_a_right_quote_of_any_form_is_found(form: str, dismisses: bool, index: CodeIndex) -> None:
    file, line, quote, at = FORMS[form]

    found = find(index, file, line, quote, dismisses=dismisses)

    assert isinstance(found, EvidenceQuote)
    assert (found.file, found.line) == ("src/names.c", at)


def test_there_are_26_forms() -> None:
    assert len(FORMS) == 26


@pytest.mark.parametrize(
    ("file", "line", "quote", "dismisses", "lost"),
    [
        (
            "src/names.c",
            99,
            "return FALSE;",
            False,
            LostQuote("several", ("src/names.c#turned:5: if (option == NULL) return FALSE;",
                                  "src/names.c#turned:11: return FALSE;", "src/names.c#rename_all:27: return FALSE;")),
        ),
        (
            "src/names.c#rename_all",
            12,
            "strncpy(target, path, ROOM);",
            False,
            LostQuote("absent", ("src/names.c#rename_all:11: }", "src/names.c#rename_all:12: strcpy(target, path);",
                                 "src/names.c#rename_all:13: if (length > 4) {")),
        ),
        ("src/names.c#rename_all", 999, "strncpy(target, path, ROOM);", False, LostQuote("absent")),
        ("src/names.c", 1, "{ }", False, LostQuote("absent", ("src/names.c#before:turned:1: #define ROOM 1024",
                                                           "src/names.c#before:turned:2: static char *option;"))),
        ("src/names.c#rename_all", 12, "target", False, LostQuote("short")),
        ("README", 1, "strcpy is safe here", True, LostQuote("document")),
        ("src/gone.c", 1, "strcpy(target, path);", False, LostQuote("unknown")),
        ("gone", 1, "strcpy(target, path);", False, LostQuote("unknown")),
        ("../names.c", 1, "strcpy(target, path);", False, LostQuote("unknown")),
        ("src/names.c", 1, "x" * 4_001, False, LostQuote("long")),
    ],
)  # fmt: skip
def test_a_quote_that_does_not_count_is_explained(
    file: str, line: int, quote: str, dismisses: bool, lost: LostQuote, index: CodeIndex
) -> None:
    assert find(index, file, line, quote, dismisses=dismisses) == lost


@pytest.mark.parametrize(
    "quote", ["/* it would not fit", "it would not fit into the target", "// and ends", "fail(…) … /* it … would … fit"]
)
def test_a_comment_shows_no_absence_of_risk_in_any_form(quote: str, index: CodeIndex) -> None:
    assert isinstance(find(index, FUNCTION, 8, quote, dismisses=True), LostQuote)


@pytest.mark.parametrize("quote", ["…", "... ...", "x … x … x", "(" * 3_000, "… strcpy " * 400])
def test_odd_quotes_are_lost(quote: str, index: CodeIndex) -> None:
    assert isinstance(find(index, FUNCTION, 8, quote), LostQuote)


def test_pieces_of_a_quote_stand_in_order_and_not_far_apart(index: CodeIndex) -> None:
    far = CodeIndex(
        Files({"a.c": "void f(void)\n{\n    first(name);\n" + "    step();\n" * 100 + "    last(name);\n}\n"})
    )
    about = cut(far, [SliceTarget("a.c", 3)])

    assert isinstance(find(index, FUNCTION, 6, f"exit(-1); … {CHECK}"), LostQuote)
    assert isinstance(find_quote(far, about, Quote(file="a.c", line=3, quote="first(name); … last(name);")), LostQuote)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_question_about_a_lost_quote_shows_what_stands_there(language: str) -> None:
    folder = Path(verification.__file__).parent / "prompts"
    lost = {1: [(2, "absent", "M|src/a.c#f:3: free(p);"), (3, "short", "")], 4: []}

    lines = fill_from(folder, "lost_quotes", lost=lost, language=language).split("\n")

    assert len(lines) == 5
    assert lines[1] == "M|src/a.c#f:3: free(p);"
    assert ["2" in lines[0], "3" in lines[2], "4" in lines[3]] == [True] * 3


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("src/names.c#rename_all:9 puts path between quotes, :12 copies it",
         "src/names.c:25 puts path between quotes, :28 copies it"),
        ("src/names.c#rename_all:9-10, line 12, lines 13–14.", "src/names.c:25-26, line 28, lines 29–30."),
        ("在 src/names.c#rename_all:9 检查，第12行复制", "在 src/names.c:25 检查，第28行复制"),
        ("src/names.c#turned:3, src/other.c:3, line 3", "src/names.c:6, src/other.c:3, line 3"),
        ("line 3 of src/names.c#turned:3 a ? b:2 at 12:30", "line 3 of src/names.c:6 a ? b:2 at 12:30"),
    ],
)  # fmt: skip
def test_lines_behind_a_place_are_lines_of_its_function(said: str, kept: str, index: CodeIndex) -> None:
    assert called_lines(said, index) == kept
