"""The places that readers want to see next: what they name, what is passed on, and what is not, with the reason."""

import pytest

from jarvis_workers.sec.judge.slices import CodeIndex
from jarvis_workers.sec.reading.work_list import ABSENT, TOO_DEEP, TOO_MANY, PlaceToRead, work_list
from tests.sec.slicing import Files

CODE = "int one(int a)\n{\n    return a;\n}\n\nint two(int a)\n{\n    return one(a);\n}\n"
ONE, TWO, WHOLE = PlaceToRead("src/b.c", 1, 4), PlaceToRead("src/b.c", 6, 9), PlaceToRead("src/b.c", 1, 9)
INDEX = CodeIndex(Files({"src/a.c": "int a;\n", "src/b.c": CODE, "README.md": "text\n"}))


def places(*names: str, index: CodeIndex = INDEX) -> tuple[PlaceToRead, ...]:
    return work_list(index, names, "src/a.c", lambda _: False, room=1_000).places


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("src/b.c#two", TWO),
        ("`src/b.c#two()`", TWO),
        ("src/b.c#two:2", TWO),
        ("src/b.c:8", TWO),
        ("src/b.c:6-7", TWO),
        ("src/b.c:2-99", WHOLE),
        ("src/b.c", WHOLE),
        ("./src/b.c", WHOLE),
        ("b.c#one", ONE),
        ("one", ONE),
        ("one()", ONE),
    ],
)
def test_a_place_is_whole_functions_or_a_whole_file(name: str, place: PlaceToRead) -> None:
    assert places(name) == (place,)


@pytest.mark.parametrize(
    "name",
    [
        *("../../etc/passwd", "/etc/passwd", "src/c.c#one", "src/b.c#three", "src/b.c:10", "src/b.c:0", "src/b.c:9-8"),
        *(
            "README.md",
            "memcpy",
            "the caller of one",
            "",
            "#",
            "src/b.c#",
            "src/../src/b.c",
            "a.c:1" + "0" * 150,
            "\x00",
            "é\ud800",
        ),
    ],
)
def test_what_the_tree_does_not_have_is_named(name: str) -> None:
    assert work_list(INDEX, [name], "src/a.c", lambda _: False, room=1_000) == ((), ((name, ABSENT),))


def test_one_place_is_passed_on_once_by_whatever_names() -> None:
    assert places("src/b.c#two", "two", "src/b.c:7", "src/b.c#two:3") == (TWO,)


def test_what_is_read_in_any_case_is_not_passed_on() -> None:
    assert work_list(INDEX, ["src/b.c#two", "one"], "src/a.c", lambda one: one == TWO, room=1_000) == ((ONE,), ())


def test_places_beyond_the_limits_are_named_with_the_reason() -> None:
    many = CodeIndex(Files({"b.c": "".join(f"int f{n}(int a)\n{{\n    return a;\n}}\n" for n in range(500))}))
    names = [f"f{number}" for number in range(7)] + [f"none{number}" for number in range(5_000)]

    four, rest = work_list(many, names, "b.c", lambda _: False, room=10_000)
    assert [one.first for one in four] == [1, 5, 9, 13]
    assert rest[:4] == (*((name, TOO_MANY) for name in names[4:7]), ("none0", ABSENT))
    assert [name for name, _ in rest] == names[4:] and rest[-1][1] == TOO_MANY
    assert work_list(many, ["f1"], "b.c", lambda _: False, room=10_000, most=0) == ((), (("f1", TOO_DEEP),))
    ((_, why),) = work_list(many, ["b.c"], "b.c", lambda _: False, room=10_000).left_out
    assert why.endswith("tokens; at most 2,500 of a place are passed on")
