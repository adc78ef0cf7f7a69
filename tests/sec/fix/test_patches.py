"""Patches as text, merged, with messages; and the gates that compare findings and proofs."""

import os
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jarvis_workers.sec.fix.fixable import FixFinding, FixLine
from jarvis_workers.sec.fix.gates import (
    FileContents,
    ProofOutcome,
    check_applies,
    check_files,
    check_proof,
    why_not_fixable,
)
from jarvis_workers.sec.fix.merging import merge
from jarvis_workers.sec.fix.patch_text import patch_text
from jarvis_workers.sec.fix.result import commit_message
from jarvis_workers.sec.fix.rule_sites import RuleSite, RuleSites, check_rule
from jarvis_workers.toolchain.git_apply import apply_patch

LINES = st.lists(st.sampled_from([b"a", b"b", b"c", b"", b"d\r", b"\xff"]), max_size=12).map(b"\n".join)
COPY = RuleSite("a.c", "unsafe_api", 3, "strcpy(d, s);")
JOIN = RuleSite("a.c", "unsafe_api", 9, "strcat(d, s);")
BASE = b"1\n2\n3\n4\n5\n6\n"


class Runner(NamedTuple):
    """A proof with a fixed outcome."""

    outcome: ProofOutcome | None

    def run(self, root: str) -> ProofOutcome | None:
        return self.outcome


@pytest.mark.slow
@settings(max_examples=12, deadline=None)
@given(before=LINES, after=LINES)
def test_git_applies_every_patch_to_the_same_files(before: bytes, after: bytes) -> None:
    name = 'sub/a b"\u00e4.c'
    if before == after or not before or not after:
        return

    assert apply_patch(patch_text({name: FileContents(before, after)}), {name: before}, os.environ) == {name: after}


@given(base=LINES, ours=LINES)
def test_a_merge_with_an_unchanged_side_is_the_other_side(base: bytes, ours: bytes) -> None:
    assert (merge(base, ours, base), merge(base, base, ours), merge(base, ours, ours)) == (ours, ours, ours)


def test_changes_of_different_lines_are_merged_and_of_adjacent_ones_conflict() -> None:
    assert merge(BASE, BASE.replace(b"1", b"one"), BASE.replace(b"5\n", b"")) == b"one\n2\n3\n4\n6\n"
    assert merge(BASE, BASE.replace(b"3", b"three"), BASE.replace(b"4", b"four")) is None
    assert merge(BASE, BASE.replace(b"3", b"three"), BASE.replace(b"3", b"drei")) is None


@pytest.mark.parametrize(
    ("after", "words"),
    [
        ([], ""),
        ([COPY], "the rule still fires: unsafe_api on a.c:3: strcpy(d, s);"),
        ([COPY._replace(line=7)], "the rule still fires: unsafe_api on a.c:7"),
        ([JOIN], "the rule still fires: unsafe_api on a.c:9"),
        ([RuleSite("b.c", "scanf_no_width", 4, "scanf(f);")], "new findings: scanf_no_width on b.c:4: scanf(f);"),
    ],
)
def test_the_rule_must_be_silent_and_nothing_new_may_fire(after: list[RuleSite], words: str) -> None:
    before = RuleSites((COPY,), (COPY,))

    assert words in check_rule([COPY], before, RuleSites(tuple(after), tuple(after))).reason
    assert check_rule([COPY], before, RuleSites(tuple(after), tuple(after))).state == ("failed" if words else "passed")


def test_one_of_two_equal_findings_may_stay() -> None:
    twice = RuleSites((COPY, COPY._replace(line=8)), (COPY, COPY._replace(line=8)))

    assert check_rule([COPY], twice, RuleSites((COPY,), (COPY,))).state == "passed"


def test_all_findings_of_a_root_cause_must_be_silent() -> None:
    both, one = RuleSites((COPY, JOIN), (COPY, JOIN)), RuleSites((JOIN,), (JOIN,))

    assert check_rule([COPY, JOIN], both, one).reason == "the rule still fires: unsafe_api on a.c:9: strcat(d, s);"
    assert check_rule([COPY, JOIN], both, RuleSites()).state == "passed"
    assert check_rule([COPY], both, one).state == "passed"


def test_what_another_rule_superseded_is_not_new() -> None:
    flow = RuleSite("a.c", "flow_rule", 3, "strcpy(d, s);")

    assert check_rule([flow], RuleSites((flow,), (flow, COPY)), RuleSites((COPY,), (COPY,))).state == "passed"


def test_a_rule_that_could_not_be_compared_is_not_checked() -> None:
    assert check_rule([COPY], RuleSites(), RuleSites()).state == "not checked"
    assert check_rule([COPY], RuleSites((COPY,)), RuleSites(problem="the scan ended")).reason == "the scan ended"


@pytest.mark.parametrize(
    ("outcome", "state", "words"),
    [
        (ProofOutcome(benign_works=True), "passed", ""),
        (ProofOutcome(), "passed", "no benign input is known"),
        (ProofOutcome("the proof still fires", benign_works=True), "failed", "still fires"),
        (ProofOutcome(benign_works=False), "failed", "benign inputs are refused"),
        (ProofOutcome(benign_works=False, problem="no compiler"), "not checked", "no compiler"),
        (None, "not checked", "no proof"),
    ],
)
def test_a_proof_must_not_fire_and_a_benign_input_must_work(
    outcome: ProofOutcome | None, state: str, words: str
) -> None:
    result = check_proof(Runner(outcome), "/tree")

    assert (result.state, words in result.reason) == (state, True)


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (b"a\nb\n", b"a\r\nb\r\n", "line ends were LF, and the patch has CRLF"),
        (b"a\r\nb\r\n", b"a\r\nb\n", "line ends were CRLF, and the patch has mixed ones"),
        (b"a\r\nb\n", b"a\nb\n", ""),
        (b"a\n", b"a\n" * 1000, "adds or removes 999 lines"),
    ],
)
def test_line_ends_and_the_size_of_a_patch_are_checked(before: bytes, after: bytes, words: str) -> None:
    result = check_applies({"a.c": FileContents(before, after)})

    assert (result.state, words in result.reason) == ("failed" if words else "passed", True)


@pytest.mark.parametrize("path", ["Makefile", "a.py", "CMakeLists.txt", "build.rs", "tests/a.c", "a_test.c", "a.tab.c"])
def test_only_sources_may_change(path: str) -> None:
    assert check_files({"a.c": FileContents(b"1", b"2"), path: FileContents(b"1", b"2")}).state == "failed"


def test_generated_code_is_recognized_by_its_head() -> None:
    assert "generated" in why_not_fixable("a.c", b"/* Generated by re2c 3.0 */\n")
    assert "generated" in why_not_fixable("a.rs", b"/* automatically generated by rust-bindgen */\n")
    assert why_not_fixable("a.c", b"/* Keeps generated keys. */\nint generated_by_user;\n") == ""


def test_a_message_has_a_subject_and_names_the_finding() -> None:
    finding = FixFinding(
        id="C1",
        gid=1,
        fingerprint="f",
        pattern="unsafe_api",
        language="c/cpp",
        cwe=120,
        severity="high",
        status="confirmed",
        place=FixLine(file="a.c", line=1),
        description="",
        suggestion="",
    )

    assert commit_message(finding, "# Bound\x1b the copy\n\nWhy.") == (
        "Bound  the copy\n\nWhy.\n\nFinding: C1 unsafe_api (CWE-120)\n"
    )
    assert commit_message(finding, " ").startswith("Fix unsafe_api in a.c\n\nFinding")
    assert len(commit_message(finding, "x" * 99).split("\n")[0]) == 72
