"""Slices show the lines that decide about their candidates, however far away, and no definition that misleads."""

from collections.abc import Mapping, Sequence

import pytest

from jarvis_workers.sec.judge.slices import ROOM, CodeIndex, Slice, SliceTarget, cut
from tests.sec.slicing import Files

STEPS = "".join(f"    step_{number}(q + {number}, q - {number}, w);\n" for number in range(400))
FEW_STEPS = "".join(f"    step_{number}(q, w);\n" for number in range(250))
JUNK = "void junk(int a)\n{\n    for (;;) {\n        if (a) {\n            a--;\n        } return;\n    }\n}\n"
HEADER = """#ifndef A_H
#define A_H
#ifdef _WIN32
#include <io.h>
#define SEP '\\\\'
#define NAME_MAX_LEN _MAX_PATH
#define snprintf(dest, len, format, ...) sprintf(dest, format, __VA_ARGS__)
#else
#define SEP '/'
#endif
#if defined(SMALL_BUILD)
#define ROOM 16
#else
#define ROOM 256
#endif
#define COMMENT_SIZE 2000
typedef struct {
    int first;
MEMBERS    char date_time[20];
    char comment[COMMENT_SIZE];
    int last;
} info_t;
extern info_t info;
#endif
""".replace("MEMBERS", "".join(f"    int unrelated_{number};\n" for number in range(40)))

# Files, the line of the candidate, what the slice shows, and what it does not show.
Case = tuple[Mapping[str, str], str, Sequence[str], Sequence[str]]
# What stands beside a member is written first if the member overflows.
MEMBERS = ("char comment[COMMENT_SIZE];", "unrelated_7")
CASES: dict[str, Case] = {
    "a return behind a brace is no type": (
        {"a.c": JUNK + "int f(int a)\n{\n    if (a)\n        return h(a); // here\n    return 0;\n}\n"},
        "a.c",
        ["return h(a);"],
        ["junk"],
    ),
    "macros of the platform, not of another": (
        {
            "a.h": HEADER,
            "a.c": '#include "a.h"\nvoid f(char *s)\n{\n    char d[ROOM];\n'
            '    snprintf(d, sizeof d, "%s%c", s, SEP); // here\n}\n',
        },
        "a.c",
        ["#define SEP '/'", "#else", "#define ROOM 256", "#define ROOM 16", "#if defined(SMALL_BUILD)"],
        ["sprintf(dest", "'\\\\'"],
    ),
    "macros of another platform, with their condition, for code of that platform": (
        {
            "a.h": HEADER,
            "a.c": "#ifdef _WIN32\nvoid f(char *s)\n{\n    char d[NAME_MAX_LEN];\n"
            "    strcpy(d, s); // here\n}\n#endif\n",
        },
        "a.c",
        ["compiled under #ifdef _WIN32", "#define NAME_MAX_LEN _MAX_PATH"],
        [],
    ),
    "a function of 250 lines is whole": (
        {"a.c": f"void f(char *s)\n{{\n    char b[8];\n{FEW_STEPS}    strcpy(b, s); // here\n    return end();\n}}\n"},
        "a.c",
        ["char b[8];", "step_0(", "step_75(", "step_249(", "return end();"],
        ["omitted"],
    ),
    "head, declarations, checks and enclosing statements of a long function": (
        {
            "a.c": f"int f(const char *source, int kind)\n{{\n    char target[8];\n{STEPS}"
            "    if (strlen(source) > 7)\n        return -1;\n"
            + STEPS
            + "    switch (kind) {\n    case KIND_TEXT:\n        if (kind != other) {\n"
            + STEPS[:2_000]
            + "\n"
            "            strcpy(target, source); // here\n        }\n    }\n" + STEPS + "}\n"
        },
        "a.c",
        [
            "int f(const char *source",
            "char target[8];",
            "if (strlen(source) > 7)",
            "return -1;",
            "switch (kind) {",
            "case KIND_TEXT:",
            "if (kind != other) {",
            "strcpy(target, source);",
        ],
        [],
    ),
    "the check of the argument in a caller, far above the call": (
        {
            "a.c": "void copy(char *d, const char *s)\n{\n    strcpy(d, s); // here\n}\n",
            "b.c": "int main(int argc, char **argv)\n{\n    char name[8];\n    char *arg = argv[1];\n    int a;\n"
            f"    if (strlen(arg) >= sizeof name)\n        return 1;\n{STEPS}    copy(name, arg);\n}}\n",
        },
        "a.c",
        [
            "char name[8];",
            "char *arg = argv[1];",
            "if (strlen(arg) >= sizeof name)",
            "return 1;",
            "copy(name, arg);",
            "called from 1 place, shown",
        ],
        [],
    ),
    "all calls of a function, the later ones alone": (
        {
            "a.c": "void warn(const char *format)\n{\n    printf(format); // here\n}\n",
            "b.c": "".join(
                f'int u{at}(int a)\n{{\n    int b;\n    warn("text {at}");\n    return a;\n}}\n' for at in range(12)
            ),
        },
        "a.c",
        ["called from 12 places, all shown", *(f'warn("text {at}");' for at in range(12))],
        [],
    ),
    "how many of the calls are shown": (
        {
            "a.c": "void warn(const char *format)\n{\n    printf(format); // here\n}\n",
            "b.c": "".join(
                f'int u{at}(int a)\n{{\n    warn("{"x" * 60} {at}");\n    return a;\n}}\n' for at in range(120)
            ),
        },
        "a.c",
        ["called from 120 places, "],
        ["all shown"],
    ),
    "a function whose address is taken": (
        {
            "a.c": "void copy(char *s)\n{\n    strcpy(name, s); // here\n}\n",
            "b.c": 'const struct command commands[] = {\n    { "copy", copy },\n};\n',
            "c.h": "#define RUN(x) \\\n    copy(x)\nvoid copy(char *s);\n",
        },
        "a.c",
        ["called from 1 place, shown; its address is taken at 1 place, shown", '"copy", copy', "copy(x)"],
        [],
    ),
    "the callers of a function in a header": (
        {
            "a.h": "static inline void copy(char *s)\n{\n    strcpy(name, s); // here\n}\n#define COPY copy\n",
            "b.c": "int main(int argc, char **argv)\n{\n    copy(argv[1]);\n}\n",
        },
        "a.h",
        ["called from 1 place, shown; its address is taken at 1 place, shown", "copy(argv[1]);", "#define COPY copy"],
        [],
    ),
    "a function in a header that is called": (
        {
            "a.h": "static inline int is_short(const char *s)\n{\n    return strlen(s) < 8;\n}\n",
            "b.c": "void f(char *s)\n{\n    if (is_short(s))\n        strcpy(d, s); // here\n}\n",
        },
        "b.c",
        ["return strlen(s) < 8;"],
        [],
    ),
    "the type of a global variable, its member, and the size of that": (
        {
            "a.h": HEADER,
            "a.c": '#include "a.h"\ninfo_t info;\nvoid f(char *s)\n{\n    strcpy(info.comment, s); // here\n}\n',
        },
        "a.c",
        ["info_t info;", "typedef struct {", *MEMBERS, "} info_t;", "#define COMMENT_SIZE 2000"],
        [],
    ),
    "the type of a parameter": (
        {
            "a.h": "struct box {\n    char room[8];\n};\n",
            "a.c": '#include "a.h"\nvoid f(struct box *b, char *s)\n{\n    strcpy(b->room, s); // here\n}\n',
        },
        "a.c",
        ["struct box {", "char room[8];"],
        [],
    ),
    "what a callee calls": (
        {
            "a.c": "void f(char *s)\n{\n    if (is_short(s))\n        strcpy(d, s); // here\n}\n",
            "b.c": "int is_short(const char *s)\n{\n    return is_below(s, 8);\n}\n"
            "int is_below(const char *s, int n)\n{\n    return strlen(s) < n + 100;\n}\n",
        },
        "a.c",
        ["return is_below(s, 8);", "return strlen(s) < n + 100;"],
        [],
    ),
    "a constant of Rust": (
        {
            "a.rs": "const SIZE: usize = 8;\nfn f(n: usize) -> u8 {\n    let b = [0u8; SIZE];\n"
            "    unsafe { *b.get_unchecked(n) } // here\n}\n"
        },
        "a.rs",
        ["const SIZE: usize = 8;", "let b = [0u8; SIZE];"],
        [],
    ),
}


def slice_of(files: Mapping[str, str], file: str) -> Slice:
    line = files[file].partition("// here")[0].count("\n") + 1
    return cut(CodeIndex(Files(files)), [SliceTarget(file, line)])


@pytest.mark.parametrize("case", CASES)
def test_a_slice_shows_what_decides_and_nothing_that_misleads(case: str) -> None:
    files, file, shown, hidden = CASES[case]

    found = slice_of(files, file)

    text = "\n".join(part.text() for part in found.parts)
    assert [line for line in shown if line not in text] == []
    assert [line for line in hidden if line in text] == []
    assert len(text) < ROOM
