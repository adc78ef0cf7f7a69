"""What may run behind a place in a function is found; what cannot is passed over."""

import pytest

from jarvis_workers.sec.rules.analysis.forward_paths import is_conditional, straight


def behind(text: bytes) -> bytes:
    """Return what may run behind the name `here`, in one piece."""
    start, end = text.index(b"here"), text.rindex(b"}")
    return b"".join(text[stretch.start : stretch.end] for stretch in straight(text, start, end))


def seen(text: bytes) -> set[bytes]:
    return set(behind(text).replace(b";", b" ").split()) & {b"a", b"b", b"c", b"d"}


def test_what_follows_in_the_block_and_behind_it_may_run():
    assert seen(b"{ if (x) { here; a; } b; }") == {b"a", b"b"}


def test_blocks_that_are_entered_and_left_are_counted():
    text = b"{ if (x) { here; if (y) { a; } } b; }"

    where = {text[s.start : s.end].strip(b" {;}"): (s.inner, s.left) for s in straight(text, text.index(b"here"), 36)}

    assert where[b"a"] == (1, 0)
    assert where[b"b"] == (0, 1)


@pytest.mark.parametrize(
    "text",
    [
        b"{ if (x) { here; } else { a; } b; }",
        b"{ if (x) here; else a; b; }",
        b"{ if (x) { here; } else if (y) { a; } else a; b; }",
        b"{ if (x) { here; }\n#ifdef Z\nelse { a; }\n#endif\n b; }",
    ],
)
def test_the_else_of_the_branch_that_was_taken_is_passed_over(text):
    assert seen(text) == {b"b"}


def test_both_branches_of_a_later_test_may_run():
    assert seen(b"{ here; if (x) { a; } else { b; } c; }") == {b"a", b"b", b"c"}


@pytest.mark.parametrize("jump", [b"return 1", b"break", b"continue", b"throw x", b"exit(1)", b"abort()"])
def test_nothing_behind_a_jump_runs(jump):
    assert seen(b"{ here; %b; a; }" % jump) == set()
    assert seen(b"{ if (x) { here; %b; } a; }" % jump) == set()


def test_a_jump_in_a_branch_ends_only_that_branch():
    assert seen(b"{ here; if (x) { return 1; a; } b; }") == {b"b"}
    assert seen(b"{ here; if (x) return 1; b; }") == {b"b"}


def test_what_a_jump_says_still_runs():
    assert seen(b"{ here; return a ; }") == {b"a"}


def test_where_both_branches_jump_nothing_behind_them_runs():
    assert seen(b"{ here; if (x) { return 1; } else { return 2; } a; }") == set()
    assert seen(b"{ here; if (x) return 1; else return 2; a; }") == set()
    assert seen(b"{ here; if (x) { if (y) { return 1; } else { return 2; } a; } b; }") == {b"b"}


def test_a_goto_is_followed_down_the_function_but_not_up():
    assert seen(b"{ up:\n here; goto out; a; out:\n b; }") == {b"b"}
    assert seen(b"{ up:\n a; here; goto up; b; }") == set()
    assert seen(b"{ here; goto *target; a; }") == set()


def test_the_next_case_is_another_story():
    assert seen(b"{ switch (x) { case 1: here; a; case 2: b; } }") == {b"a"}
    assert seen(b"{ here; switch (x) { case 1: a; break; c; case 2: b; } d; }") == {b"a", b"b", b"d"}


def test_the_other_branch_of_an_if_directive_is_for_other_builds():
    assert seen(b"{\n#if X\n here;\n#else\n a;\n#endif\n b; }") == {b"b"}
    assert seen(b"{\n here;\n#if X\n a;\n#else\n b;\n#endif\n c; }") == {b"a", b"b", b"c"}


def test_a_statement_in_a_branch_without_braces_is_conditional():
    for text in (b"{ if (x(1)) y = here", b"{ else here", b"{ for (a; b; c) here", b"{ while (x) f(here"):
        assert is_conditional(text, text.index(b"here"))
    for text in (b"{ if (x) { here", b"{ f(x); here", b"{ if (here", b"{ y = f(x) + here", b"here"):
        assert not is_conditional(text, text.index(b"here"))


def test_a_jump_in_the_rest_of_a_conditional_statement_ends_the_walk():
    assert seen(b"{ if (here) return 1; a; }") == {b"a"}
    assert seen(b"{ if (x) here, exit(1); a; }") == set()


def test_hostile_nesting_is_bounded():
    text = b"{ here; " + b"if (x) { " * 20_000 + b"}" * 20_001

    assert len(list(straight(text, text.index(b"here"), len(text)))) <= 301


def test_a_long_comment_before_a_jump_changes_nothing():
    assert seen(b"{ here; if (x)%b return 1; a; }" % (b" " * 300)) == {b"a"}
