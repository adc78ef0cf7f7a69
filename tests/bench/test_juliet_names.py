"""The names that support headers define are replaced everywhere, and all else stays as it is."""

from pathlib import Path

from tests.bench.juliet_names import defined_names, main, without_names

HEADER = b"""
#ifndef _SUPPORT_H
#define ROOM alloca
#define DRAW() ((int)(rand() & 1 ? rand() : -1))  /* int commented; */
#define __STDC_LIMIT_MACROS 1
typedef struct _pair
{
    int one;
    int two;
} pair;
class Pair
{
    public:
        int first;
};
extern const int ALWAYS; /* true */
void show(const char * text);
int returns_true();
#endif
"""
NAMES = {b"ROOM", b"DRAW", b"_pair", b"one", b"two", b"pair", b"Pair", b"first", b"ALWAYS", b"show", b"returns_true"}


def test_all_that_a_header_defines_is_found() -> None:
    assert defined_names([HEADER]) == NAMES


def test_names_are_replaced_as_whole_words_and_lines_stay() -> None:
    text = b"pair p;\nif (ALWAYS) show(ROOMY);\nchar *q = ROOM(9); /* ROOM */\n"

    replaced = without_names(text, frozenset(NAMES))

    assert replaced.count(b"\n") == 3
    assert b"ROOMY" in replaced
    assert not any(name in replaced.replace(b"ROOMY", b"") for name in (b"pair", b"ALWAYS", b"show", b"ROOM"))
    assert without_names(replaced, frozenset(NAMES)) == replaced


def test_a_tree_is_copied_with_its_labels(tmp_path: Path) -> None:
    for place, name, text in (
        ("tree/src", "a.c", b"ROOM(1);"),
        ("tree", "labels.json", b"{}"),
        ("support", "s.h", HEADER),
    ):
        (tmp_path / place).mkdir(parents=True, exist_ok=True)
        (tmp_path / place / name).write_bytes(text)

    main(tmp_path / "tree", tmp_path / "support", tmp_path / "copy")

    assert b"ROOM" not in (tmp_path / "copy/src/a.c").read_bytes()
    assert (tmp_path / "copy/labels.json").read_bytes() == b"{}"
