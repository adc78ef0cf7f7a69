"""How a tree is divided into pieces and groups, which groups are chosen, and what readers see of a file."""

import json
import time
import tracemalloc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jarvis_workers.sec.judge.slices import SourceFile
from jarvis_workers.sec.reading.file_facts import FileFacts, FilePiece, facts_of
from jarvis_workers.sec.reading.grouping import choose, group
from jarvis_workers.sec.reading.numbered_code import code_text
from jarvis_workers.sec.reading.project_map import map_text
from tests.support.machine import assert_cpu_within

FUNCTION = "int f{n}(int a)\n{{\n    return g{n}(a) + 1;\n}}\n\n"


def piece(path: str, tokens: int = 10, **about: Any) -> FilePiece:
    return FilePiece(path, 1, 9, tokens)._replace(**about)


def paths(*pieces: FilePiece, room: int = 25) -> list[list[str]]:
    return [one.files for one in group(pieces, room)]


def test_files_that_call_each_other_are_one_group() -> None:
    caller, callee = piece("a.c", uses=("parse",)), piece("z.c", defines=("parse",))

    assert paths(caller, piece("b.c"), callee, piece("c.c")) == [["a.c", "z.c"], ["b.c", "c.c"]]


def test_generated_code_is_not_mixed_with_other_code_and_comes_last() -> None:
    groups = group([piece("a.c", is_late=True, exposure=99.0), piece("b.c")], 100)

    assert [one.files for one in choose(groups, None).groups] == [["b.c"], ["a.c"]]


def test_what_is_most_exposed_is_chosen_and_the_rest_is_named() -> None:
    groups = [*group([piece("a.c", 20)], 20), *group([piece("b.c", 20, exposure=5.0)], 20)]

    chosen = choose(groups, groups[0].cost + groups[1].cost - 1)
    assert [one.files for one in chosen.groups] == [["b.c"]]
    assert chosen.left_out == ("a.c",)
    assert [one.files for one in choose(groups, 1).groups] == [["b.c"]]


@pytest.mark.slow
@given(
    st.lists(
        st.tuples(st.integers(1, 40), st.sets(st.sampled_from("pqrs")), st.sets(st.sampled_from("pqrs"))), max_size=12
    ),
    st.randoms(),
)
def test_every_piece_is_in_one_group_whatever_the_order(
    sizes: list[tuple[int, set[str], set[str]]], chance: object
) -> None:
    pieces = [
        piece(f"{place:02}.c", tokens, defines=tuple(sorted(defines)), uses=tuple(sorted(uses)))
        for place, (tokens, defines, uses) in enumerate(sizes)
    ]
    groups = group(pieces, 50)
    chance.shuffle(mixed := list(pieces))

    assert sorted(one for each in groups for one in each.pieces) == sorted(pieces)
    assert all(one.tokens <= 50 for one in groups)
    assert group(mixed, 50) == groups


def test_a_file_larger_than_the_room_is_split_between_functions() -> None:
    code = "".join(FUNCTION.format(n=number) for number in range(40))
    facts = facts_of("a.c", code.encode(), 200)

    assert len(facts.pieces) > 2
    assert [one.first for one in facts.pieces[1:]] == [one.last + 1 for one in facts.pieces[:-1]]
    assert (facts.pieces[0].first, facts.pieces[-1].last) == (1, code.count("\n"))
    sizes = [one.tokens for one in facts.pieces]
    assert max(sizes) <= 200 and max(sizes) - min(sizes) <= 50, "no piece is what is left of the others"
    first_lines = [code.split("\n")[one.first - 1] for one in facts.pieces]
    assert all(line.startswith("int f") or not line for line in first_lines)


def test_a_function_larger_than_the_room_is_split_between_lines() -> None:
    code = "int f(int a)\n{\n" + "    a += g(a, 1);\n" * 100 + "    return a;\n}\n"

    pieces = facts_of("a.c", code.encode(), 200).pieces
    assert len(pieces) > 3 and all(one.tokens <= 200 for one in pieces)


@pytest.mark.slow
@pytest.mark.timing
def test_a_hundred_thousand_files_are_grouped_in_bounded_time_and_memory() -> None:
    begun, count = time.process_time(), 100_000
    files = [_small_file(number, count) for number in range(count)]
    tracemalloc.start()
    groups = group((one for facts in files for one in facts.pieces), 25_000)
    chosen = choose(groups, 250_000)
    project = map_text("", files, 1_800)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert sum(len(one.files) for one in chosen.groups) + len(chosen.left_out) == count
    assert sum(one.cost for one in chosen.groups) <= 250_000
    assert len(project) < 10_000
    assert peak < 200_000_000
    assert_cpu_within(30.0, since=begun)


def _small_file(number: int, count: int) -> FileFacts:
    uses = f"f{number * 7 % count}", f"f{(number + 1) % count}"
    return FileFacts((FilePiece(f"d{number % 100}/f{number}.c", 1, 4, 40, 1.0, (f"f{number}",), uses),))


def test_facts_survive_json() -> None:
    facts = facts_of("a.h", b'#include "b.h"\nint parse(char *p);\nint main(void)\n{\n    return parse(0);\n}\n', 100)

    assert FileFacts.decode(json.loads(json.dumps(facts))) == facts
    assert (facts.programs, facts.declares) == (("main",), ("parse",))
    assert {"b.h", "parse"} <= set(facts.pieces[0].uses)


def test_readers_see_the_line_numbers_of_the_file_without_comments_and_long_tables() -> None:
    table = "static const int t[] = {\n" + "    1, 0x2, 3,\n" * 30 + "};\n"
    text = code_text(SourceFile("a.c", f"/* trust me */\n\nint a;\n{table}int b;\n".encode()), 1, 36)

    assert text.split("\n")[:3] == ["a.c: 36 lines", "3| int a;", "4| static const int t[] = {"]
    assert "trust" not in text and text.endswith("36| int b;")
    assert "[26 lines of numbers omitted]" in text


@pytest.mark.parametrize("line", ["#define PR_{n} 0x{n}", "  PR_{n} = {n},", "  PROPERTY(PR_{n}),"])
def test_a_long_list_of_constants_is_not_shown_and_a_short_one_is(line: str) -> None:
    for count, shown in ((60, 4), (59, 59)):
        listed = "\n\n".join(line.format(n=number) for number in range(count))
        text = code_text(SourceFile("a.h", f"int a;\n{listed}\nint b;\n".encode()), 1, 2 * count + 1)
        assert (text.count("PR_"), "[56 lines of constants omitted]" in text) == (shown, shown == 4)
        assert text.endswith("| int b;")


def test_the_map_does_not_change_with_the_lines_of_a_function() -> None:
    def of(body: str) -> str:
        code = f"int main(void)\n{{\n{body}}}\nstatic int (*const table[])(void) = {{ main }};\n"
        return map_text("README: A tool.", [facts_of("src/a.c", code.encode(), 1_000)], 500)

    assert of("    return 0;\n") == of("    int a = 1;\n    return a;\n")
    assert of("").split("\n") == [
        "README: A tool.",
        "Entry points: src/a.c#main",
        "Functions in tables: src/a.c#main",
        "Files: src/a.c",
    ]
