"""The ways out of a function on which something that was taken is still held."""

import pytest

from jarvis_workers.sec.rules.analysis.function_exits import acquisition_end, behind_statement, ways_out


def ways(body: str, start: str = "take();", release: str = "give();", again: str = "again();") -> list[tuple[str, str]]:
    """Return kind and statement of each way out behind `start`."""
    text = body.encode()
    begin = text.index(start.encode()) + len(start)

    def places(word: str) -> list[int]:
        return [at for at in range(begin, len(text)) if text.startswith(word.encode(), at)]

    found = ways_out(text, (begin, len(text)), places(release), places(again))
    return [(way.kind, text[slice(*way.statement)].decode()) for way in found]


def test_a_return_before_it_is_given_back_is_a_way_out() -> None:
    assert ways("take(); if (a) return 1; give(); return 0;") == [("return", "return 1")]


def test_what_is_given_back_in_a_block_that_leaves_is_held_behind_it() -> None:
    body = "take(); if (a) { give(); return 1; } if (b) return 2; give();"

    assert ways(body) == [("return", "return 2")]


def test_what_is_given_back_in_a_block_that_goes_on_counts_as_given_back() -> None:
    assert ways("take(); if (a) { give(); } if (b) return 2;") == []
    assert ways("take(); if (a) give(); if (b) return 2;") == []


def test_else_of_the_block_in_which_it_was_taken_is_not_reached() -> None:
    body = "if (a) { take(); } else if (b) { return 1; } else return 2; if (c) return 3; give();"

    assert ways(body) == [("block", ""), ("return", "return 3")]


def test_nothing_is_reached_behind_a_jump_that_is_always_taken() -> None:
    assert ways("take(); return 1; if (a) return 2;") == [("return", "return 1")]
    assert ways("take(); if (a) { return 1; } else { goto out; } return 2;") == [
        ("return", "return 1"),
        ("goto", "goto out"),
    ]


def test_a_block_that_only_some_ways_leave_goes_on() -> None:
    assert ways("take(); if (a) { return 1; } else { b(); } return 2;") == [
        ("return", "return 1"),
        ("return", "return 2"),
    ]


def test_the_end_is_a_way_out_unless_it_was_given_back() -> None:
    assert ways("take(); use();") == [("end", "")]
    assert ways("take(); { give(); }") == []


def test_each_case_begins_as_the_switch_did() -> None:
    body = "take(); switch (a) { case 1: give(); return 1; case 2: return 2; default: b(); } give();"

    assert ways(body) == [("return", "return 2")]


def test_what_is_asked_for_again_is_told_where_it_is_held() -> None:
    assert ways("take(); again(); give(); again();")[0] == ("again", "again()")
    assert ways("take(); give(); again();") == []


def test_a_return_within_a_lambda_does_not_leave_the_function() -> None:
    assert ways("take(); f([&](int n) { return n; }); auto g = [=] { return 1; }; give();") == []


def test_only_the_branch_of_the_preprocessor_counts_in_which_it_was_taken() -> None:
    body = "#if A\ntake();\n#if B\n#else\nb();\n#endif\n#else\nreturn 1;\n#endif\nif (c) return 2;\ngive();"

    assert ways(body) == [("return", "return 2")]


def test_the_heads_around_a_way_out_are_told() -> None:
    text = b"take(); if (a) { b(); } else if (c) { if (d) return 1; } give();"
    way = next(ways_out(text, (7, len(text)), [text.index(b"give")]))

    assert [text[slice(*head)].strip() for head in way.conditions] == [b"if (a)", b"else if (c)", b"if (d)"]


@pytest.mark.parametrize(
    ("text", "fails", "held"),
    [
        ("p = take(); next();", False, "; next();"),
        ("if (!(p = take())) return 1; next();", True, " next();"),
        ("if (!(p = take())) { a(); return 1; } next();", True, " next();"),
        ("if ((p = take())) { use(); }", False, " use(); }"),
        ("if ((p = take()) != 0) use();", False, " use();"),
        ("if (a) p = take(); else return 1; next();", False, " next();"),
        ("while ((p = take())) next();", False, None),
        ("if ((p = take(", False, None),
    ],
)
def test_it_is_held_from_where_the_call_has_succeeded(text: str, fails: bool, held: str | None) -> None:
    start = text.index("take")
    end = start + len("take()") if "take()" in text else len(text)

    found = acquisition_end(text.encode(), start, end, fails=fails)

    assert (None if found is None else text[found:]) == held


def test_a_statement_ends_with_its_semicolon_or_its_block() -> None:
    assert behind_statement(b" a(); b();", 0) == len(" a();")
    assert behind_statement(b" if (a) { b(); { c(); } } d();", 0) == len(" if (a) { b(); { c(); } }")
    assert behind_statement(b" a }", 0) == 3
    assert behind_statement(b" a", 0) == 2
