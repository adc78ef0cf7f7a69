"""Edits of a model are applied if the tests pass with them; what they must not do is refused before the tests run."""

import json

import pytest

from jarvis_workers.agents.loop.limits import AgentLimits
from jarvis_workers.agents.loop.nonces import Marks
from jarvis_workers.agents.tools.tool import ToolOutcome
from jarvis_workers.c2rust.file_improvement import ImprovedFile, improve_file, improver, objection
from jarvis_workers.models.platforms.profiles import GENERIC
from tests.agents.loop.arrange import answered

TEXT = "pub fn f(x: &[i32]) -> i32 {\n    unsafe { *x.get_unchecked(0) }\n}\n\n"
TEXT += "#[test]\nfn t() { assert_eq!(f(&[1]), 1); }\n"
SAFE = ("unsafe { *x.get_unchecked(0) }", "x[0]")
PASSES, FAILS = ToolOutcome(stdout=""), ToolOutcome(stdout="exit code 101 (src/a.rs:2: mismatched types)")


def edits(*pairs: tuple[str, str]) -> str:
    rows = [{"search": search, "replacement": replacement} for search, replacement in pairs]
    return f"<EDITS>\n{json.dumps({'edits': rows})}\n</EDITS>"


def improve(answers: list[str], outcomes: list[ToolOutcome], attempts: int = 3) -> tuple[ImprovedFile, list[str]]:
    agent = improver(GENERIC, Marks("mark", "nonce", "canary"), AgentLimits(), attempts)
    return answered(improve_file(agent, "src/a.rs", TEXT, attempts), answers, outcomes)


def test_edits_with_which_the_tests_pass_are_accepted():
    improved, (task,) = improve([edits(SAFE)], [PASSES])

    assert improved == ImprovedFile(TEXT.replace(*SAFE), checks=1)
    assert "The file src/a.rs" in task and "mark    unsafe { *x.get_unchecked(0) }" in task


def test_no_edits_leave_the_file_without_a_test():
    assert improve([edits()], [])[0] == ImprovedFile()


def test_failures_go_back_to_the_model():
    improved, messages = improve([edits(("nowhere", "")), edits(SAFE), edits(SAFE)], [FAILS, PASSES])

    assert (improved.text, improved.checks) == (TEXT.replace(*SAFE), 2)
    assert "the text to replace is not in the file" in messages[1]
    assert "mismatched types" in messages[2]


def test_a_file_whose_edits_never_pass_stays_as_it_is():
    improved, _ = improve([edits(SAFE)] * 2, [FAILS] * 2, attempts=2)

    assert (improved.text, improved.checks, improved.checked) == ("", 2, True)
    assert "no edits of the model pass; the last: exit code 101" in improved.reason


def test_tests_that_did_not_run_decide_nothing():
    improved, _ = improve([edits(SAFE)], [ToolOutcome("error", stderr="no sandbox")])

    assert (improved.text, improved.reason, improved.checked) == ("", "no sandbox", False)


@pytest.mark.parametrize(
    ("search", "replacement", "what"),
    [
        ("x[0]", 'std::process::exit(std::fs::read("/etc/passwd").map_or(1, |_| x[0]))', "operating system"),
        ("x[0]", "system(x[0])", "operating system"),
        ("x[0]", "todo!()", "unfinished"),
        ("x[0]", "env!(x)", "attributes, macros or foreign"),
        ("fn t", "#[allow(x)]\nfn t", "attributes, macros or foreign"),
        ("fn t", "unsafe fn u() {}\nfn t", "unsafe functions"),
        ("x[0]", "unsafe { x[0] }", "unsafe lines"),
        ("#[test]\n", "", "tests"),
        ("assert_eq!(f(&[1]), 1);", "", "tests"),
        ("pub fn", "fn", "public items"),
    ],
)
def test_edits_that_do_more_than_they_should_are_refused(search: str, replacement: str, what: str):
    before = TEXT.replace(*SAFE)

    assert what in objection(before, before.replace(search, replacement))
    assert not objection(before, before.replace("x[0]", "x.first().copied().unwrap()"))
