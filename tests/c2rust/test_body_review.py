"""A reviewer advises, and the gates decide; without a server."""

import json
from collections.abc import Sequence

import pytest

from jarvis_workers.agents.loop.limits import AgentLimits
from jarvis_workers.agents.loop.nonces import Marks
from jarvis_workers.agents.tools.tool import ToolOutcome
from jarvis_workers.c2rust.body_review import ISSUES_MAX, MOST_CALLS, reviewer
from jarvis_workers.c2rust.body_translation import TranslatedBody, Translators, translate_body
from jarvis_workers.c2rust.conversion import Conversion, FunctionResult, Review
from jarvis_workers.c2rust.report.conversion_text import conversion_markdown, conversion_text
from jarvis_workers.models.platforms.profiles import GENERIC
from tests.agents.loop.arrange import answered
from tests.c2rust.test_body_translation import DIFFERENT, PASSED, RIGHT, WRONG, agent, body_answer, outcome, question

BETTER = RIGHT.replace("{ p", "{\n    // Wraps, as in C.\n    p")
OK: tuple[tuple[int, str], ...] = ()
ISSUE = ((1, "the sum may overflow"),)


def review(issues: Sequence[tuple[int, str]]) -> str:
    return f"<REVIEW>\n{json.dumps({'issues': [{'line': line, 'text': text} for line, text in issues]})}\n</REVIEW>"


def translated(
    answers: Sequence[str], gates: Sequence[ToolOutcome], attempts: int = 3, groups: int = 1
) -> tuple[TranslatedBody, list[str]]:
    """Return the result, and the last message of each request."""
    agents = tuple(agent(attempts, vote) for vote in range(groups))
    judge = reviewer(GENERIC, Marks("mark", "nonce", "canary"), AgentLimits())
    return answered(translate_body(Translators(agents, attempts, judge), question(), "reached"), answers, gates)


def test_an_accepted_body_is_reviewed_on_two_topics() -> None:
    body, (_, logic, borders) = translated([body_answer(RIGHT), review(OK), review(OK)], [outcome(PASSED)])
    assert (body.text, body.reviews) == (RIGHT, (Review("logic", ()), Review("borders", ())))
    assert "1: fn rust_sum" in logic and "p->first + twice(n)" in logic and "Review the logic" in logic
    assert "fn rust_sum" not in borders and "Review the borders" in borders


def test_issues_go_back_once_and_the_new_body_is_reviewed_again() -> None:
    answers = [body_answer(RIGHT), review(ISSUE), review(OK), body_answer(BETTER), review(ISSUE)]
    body, seen = translated(answers, [outcome(PASSED)] * 2)
    assert "1. logic, line 1: the sum may overflow" in seen[3] and "may be wrong" in seen[3]
    assert "2:     // Wraps" in seen[4] and "p->first" not in seen[4]
    assert (body.text, body.attempts) == (BETTER, 2)
    assert body.reviews == (Review("borders", ()), Review("logic", ("line 1: the sum may overflow",)))


@pytest.mark.parametrize("second", [body_answer(WRONG), body_answer("fn other() {}"), body_answer(RIGHT)])
def test_a_body_that_the_gates_refuse_or_that_is_the_same_changes_nothing(second: str) -> None:
    answers = [body_answer(RIGHT), review(ISSUE), review(OK), second]
    body, _ = translated(answers, [outcome(PASSED), outcome(DIFFERENT)])
    assert (body.text, body.gates, body.attempts) == (RIGHT, PASSED, 1)
    assert body.reviews[0].issues == ("line 1: the sum may overflow",)


def test_gates_that_do_not_run_for_the_new_body_change_nothing() -> None:
    answers = [body_answer(RIGHT), review(ISSUE), review(OK), body_answer(BETTER)]
    body, _ = translated(answers, [outcome(PASSED), ToolOutcome("error", stderr="no disk")])
    assert (body.text, body.checked) == (RIGHT, True)


def test_calls_are_bounded() -> None:
    """A body that is accepted last cannot be corrected; a reviewer that answers in prose is asked at most 4 times."""
    prose = ["Looks good to me."] * (MOST_CALLS - 1)
    body, seen = translated([body_answer(WRONG), body_answer(RIGHT), *prose], [outcome(DIFFERENT), outcome(PASSED)], 2)
    assert (body.text, body.reviews, len(seen)) == (RIGHT, (), 2 + len(prose))
    body, seen = translated([body_answer(RIGHT), review(ISSUE), review(ISSUE)], [outcome(PASSED)], 1)
    assert (body.text, len(seen)) == (RIGHT, 3)


def test_the_bound_with_two_model_groups_and_objections_to_everything() -> None:
    attempts, groups = 2, 2
    answers = [body_answer(f"{WRONG} // {number}") for number in range(attempts)]
    answers += [body_answer(RIGHT), review(ISSUE), review(ISSUE), body_answer(BETTER), review(ISSUE), review(ISSUE)]
    gates = [outcome(DIFFERENT)] * attempts + [outcome(PASSED)] * 2
    body, seen = translated(answers, gates, attempts, groups)
    assert (body.text, len(seen)) == (BETTER, attempts * groups + MOST_CALLS)


@pytest.mark.parametrize("issues", [OK, ISSUE])
def test_what_is_accepted_does_not_depend_on_the_reviewer(issues: Sequence[tuple[int, str]]) -> None:
    answers = [body_answer(WRONG), body_answer(RIGHT), review(issues), review(issues)]
    body, _ = translated([*answers, body_answer(RIGHT)] if issues else answers, [outcome(DIFFERENT), outcome(PASSED)])
    assert (body.text, body.gates, body.failed) == (RIGHT, PASSED, ("shadow",))


def test_reviews_are_short_and_one_line_per_issue() -> None:
    many = [(number, "a\n" * 400) for number in range(20)]
    body, _ = translated([body_answer(RIGHT), review(many), review(OK)], [outcome(PASSED)], 1)
    assert len(body.reviews[0].issues) == ISSUES_MAX
    assert all(len(issue) <= 400 and "\n" not in issue for issue in body.reviews[0].issues)


def test_the_report_lists_what_the_reviewer_objects_to() -> None:
    reviews = (Review("logic", ()), Review("borders", ("line 3: `p` may be <null>",)))
    one = FunctionResult("sum", "a.c", 7, 9, "a", "sum", state="translated", reviews=reviews)
    text = "".join(conversion_text(Conversion((one,)), {}))
    assert (
        "Objections of the reviewer to accepted functions (1):\n  a.c:7: sum: borders, line 3: `p` may be <null>"
        in text
    )
    assert "- a.c:7: sum: borders, line 3: 'p' may be &lt;null>" in "".join(conversion_markdown(Conversion((one,)), {}))
