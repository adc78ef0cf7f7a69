"""The loop: how a conversation goes on, and each way in which it ends."""

import pytest

from jarvis_workers.agents.loop.limits import AgentLimits
from jarvis_workers.agents.loop.report import ReportForm
from jarvis_workers.agents.loop.text_tool_call import tags
from jarvis_workers.agents.tools.tool import ToolFailed, ToolOutcome
from jarvis_workers.errors import AgentStopped, ModelRefused, ModelUnavailable
from jarvis_workers.models.platforms.protocol import Message, Reply, TokenUsage, ToolCall
from tests.agents.loop.arrange import MARKS, TEXT, Scripted, agent_of, call, look, run, text

MANY = 100


def stops(*replies: Reply | Exception, limits: AgentLimits, **about: object) -> tuple[str, int]:
    """Return the reason for which a conversation stops, and how often the tool ran."""
    seen: list[str] = []
    with pytest.raises(AgentStopped) as stop:
        run(agent_of(look(seen), limits=limits, **about), Scripted(*replies))  # type: ignore[arg-type]
    return stop.value.reason, len(seen)


def distinct(count: int, **about: object) -> list[Reply]:
    """Calls that are all different."""
    return [call("look", f'{{"at": "{number}"}}', **about) for number in range(count)]


def test_an_answer_without_a_call_is_the_end() -> None:
    result = run(agent_of(look([])), Scripted(call("look"), text("It is so.")))

    assert (result.text, result.ending, result.tools, result.asks) == ("It is so.", "answer", {"look": 1}, 2)
    assert result.usage == TokenUsage(200, 40)


@pytest.mark.parametrize(
    ("answer", "left", "ending"),
    [
        ("All done.\n!!!COMPLETE!!!", "All done.", "mark"),
        ("All done.\n\n  !!!COMPLETE!!!  \n", "All done.", "mark"),
        ("!!!COMPLETE!!!", "", "mark"),
        ("It says !!!COMPLETE!!!", "It says !!!COMPLETE!!!", "answer"),
        ("!!!COMPLETE!!!\nNot yet.", "!!!COMPLETE!!!\nNot yet.", "answer"),
    ],
)
def test_the_mark_counts_alone_on_the_last_line(answer: str, left: str, ending: str) -> None:
    result = run(agent_of(), Scripted(text(answer)))

    assert (result.text, result.ending) == (left, ending)


def test_without_auto_complete_the_mark_means_nothing() -> None:
    agent = agent_of(auto_complete=False)
    platform = Scripted(text("Done.\n!!!COMPLETE!!!"))

    assert run(agent, platform).ending == "answer"
    assert "COMPLETE" not in platform.requests[0].messages[-1].content


def test_the_mark_in_an_answer_that_was_cut_off_ends_nothing() -> None:
    result = run(agent_of(), Scripted(text("so\n!!!COMPLETE!!!", finish="length"), text("whole")))

    assert result.text == "whole"


@pytest.mark.parametrize("finish", ["length", None, "content_filter", "weird"])
def test_an_answer_that_was_cut_off_runs_nothing(finish: str | None) -> None:
    seen: list[str] = []

    run(agent_of(look(seen)), Scripted(call("look", finish=finish), text("done")))

    assert seen == []


def test_each_limit_has_a_reason_of_its_own() -> None:
    assert stops(*distinct(4), limits=AgentLimits(tool_calls=3)) == ("tool_calls", 3)
    assert stops(*distinct(4), limits=AgentLimits(rounds=4)) == ("rounds", 4)
    assert stops(*distinct(2), limits=AgentLimits(tokens=240)) == ("tokens", 2)
    assert stops(*distinct(2, cost=0.5), limits=AgentLimits(cost=1)) == ("cost", 2)
    assert stops(*distinct(2, seconds=30), limits=AgentLimits(seconds=60)) == ("time", 2)
    assert stops(*[text("")] * 3, limits=AgentLimits()) == ("malformed", 0)
    assert stops(*[call("look")] * 3, limits=AgentLimits()) == ("repeated", 2)
    assert stops(ModelRefused("no"), limits=AgentLimits()) == ("refused", 0)
    assert stops(ModelUnavailable("no"), limits=AgentLimits()) == ("unavailable", 0)


def test_a_turn_has_ten_calls() -> None:
    assert stops(*distinct(11), limits=AgentLimits()) == ("tool_calls", 10)


def test_the_same_arguments_in_another_order_are_the_same_call() -> None:
    same = [call("look", '{"at": "x"}'), call("look", '{ "at" :"x" }'), call("look", '{"at":"\\u0078"}')]

    assert stops(*same, limits=AgentLimits()) == ("repeated", 2)


def test_answers_that_cannot_be_used_count_only_in_a_row() -> None:
    replies = [text(""), text(""), call("look"), text(""), text(""), text("done")]

    assert run(agent_of(look([])), Scripted(*replies)).text == "done"


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        (text(""), "empty"),
        (text("so far", finish="length"), "truncated"),
        (call("nothing"), "there is no tool 'nothing'; your tools are: look"),
        (call("look", "{"), "not valid JSON"),
        (call("look", "[]"), "JSON object"),
        (call("look", '{"at": 1, "at": 2}'), "twice"),
        (call("look", '{"where": 1}'), "where"),
        (call("look", f'{{"at": "{MARKS.canary}"}}'), "forbidden word"),
        (Reply("", (ToolCall("1", "look", "{}"), ToolCall("2", "look", "{}")), finish="tool_calls"), "2 calls"),
    ],
)
def test_the_model_is_told_why_its_answer_could_not_be_used(reply: Reply, says: str) -> None:
    seen: list[str] = []
    platform = Scripted(reply, text("done"))

    run(agent_of(look(seen)), platform)

    told = platform.requests[1].messages
    assert says in told[-1].content
    assert (told[-1].role, told[-2].role, told[-2].calls) == ("user", "assistant", ())
    assert seen == []


def test_an_empty_answer_is_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    run(agent_of(), Scripted(text(""), text("done")))

    assert [record.getMessage() for record in caplog.records] == ["answer cannot be used"]


def test_a_tool_that_cannot_do_it_says_so_in_the_agents_language() -> None:
    def fails(_: str) -> str:
        raise ToolFailed("no such place")

    english, chinese = (Scripted(call("look"), text("done")) for _ in range(2))
    run(agent_of(look([], fails)), english)
    run(agent_of(look([], fails), language="zh"), chinese)

    assert english.requests[1].messages[-1].content == "[error] no such place"
    assert chinese.requests[1].messages[-1].content == "[错误] no such place"


def test_the_words_of_failing_are_those_of_the_seeds() -> None:
    failed = ToolOutcome("failed", stdout="half", stderr="broke", exit=2)

    assert failed.text("zh") == "[失败] broke (exit 2)\n[部分输出]\nhalf"
    assert failed.text() == "[failed] broke (exit 2)\n[partial output]\nhalf"
    assert ToolOutcome(stdout="out", stderr="careful").text() == "out\n[stderr]\ncareful"
    assert (ToolOutcome().success, failed.success) == (True, False)


def test_every_try_of_a_request_is_taken_from_one_purse() -> None:
    platform = Scripted(call("look", tries=3), call("look", '{"at": "b"}', tries=2), text("done"))

    run(agent_of(look([])), platform)

    assert [request.retries for request in platform.requests] == [3, 1, 0]


def test_whatever_fails_the_calls_of_a_task_are_bounded() -> None:
    limits = AgentLimits(rounds=5, malformed=MANY, reasks=MANY)
    platform = Scripted(*[text("", tries=2)] * MANY)

    with pytest.raises(AgentStopped):
        run(agent_of(limits=limits), platform)

    assert len(platform.requests) == limits.rounds


def test_the_time_that_is_left_goes_with_the_request() -> None:
    platform = Scripted(call("look", seconds=12), text("done"))

    run(agent_of(look([]), limits=AgentLimits(seconds=60)), platform)

    assert [request.seconds for request in platform.requests] == [60, pytest.approx(48, abs=0.5)]


def test_a_long_output_is_cut() -> None:
    platform = Scripted(call("look", '{"at": "a"}'), text("done"))

    run(agent_of(look([], lambda _: "\n".join(f"line {number}" for number in range(9_000)))), platform)

    lines = platform.requests[1].messages[-1].content.split("\n")
    assert (lines[0], lines[29], lines[30], lines[31], lines[-1]) == (
        "line 0",
        "line 29",
        "[… 8940 lines omitted …]",
        "line 8970",
        "line 8999",
    )


def test_a_summary_is_asked_for_at_the_end() -> None:
    platform = Scripted(text("done"), text("It was done."))

    result = run(agent_of(need_summary=True, summary_prompt="Sum up."), platform)

    assert (result.text, result.summary) == ("done", "It was done.")
    assert platform.requests[1].messages[-1] == Message("user", "Sum up.")


def test_a_summary_that_does_not_come_is_empty() -> None:
    result = run(agent_of(need_summary=True), Scripted(text("done"), text(""), text("cut", finish="length")))

    assert result.summary == ""


def test_a_second_task_goes_on_with_the_conversation() -> None:
    agent, platform = agent_of(look([])), Scripted(*distinct(9), text("first"), *distinct(9), text("second"))

    assert run(agent, platform).text == "first"
    assert run(agent, platform, task="And now?").text == "second"
    assert "\n\nDo it.\n" in platform.requests[-1].messages[1].content
    assert platform.requests[-1].turn == 1 + 20


def test_in_text_a_model_reads_what_tools_there_are_and_how_they_are_called() -> None:
    start, end = tags(MARKS.nonce)
    block = f'I look.\n{start}\n{{"name": "look", "arguments": {{"at": "x"}}}}\n{end}'
    platform = Scripted(text(block), text("done"))
    seen: list[str] = []

    run(agent_of(look(seen), profile=TEXT), platform)

    first, second = platform.requests
    assert seen == ["x"]
    assert first.tools == ()
    assert "look: Look." in first.messages[0].content
    assert MARKS.nonce in first.messages[1].content
    assert second.messages[-2:] == (Message("assistant", block), Message("user", "Result of look:\nX"))


def test_in_text_a_native_call_is_no_answer() -> None:
    seen: list[str] = []

    result = run(agent_of(look(seen), profile=TEXT), platform := Scripted(call("x"), text("done")))

    assert (seen, result.text) == ([], "done")
    assert "was not run" in platform.requests[1].messages[-1].content


def test_every_so_often_a_model_is_reminded_of_its_tools() -> None:
    platform = Scripted(*distinct(3), text("done"))

    run(agent_of(look([]), limits=AgentLimits(reminder_rounds=2)), platform)

    reminded = ["Reminder" in message.content for message in platform.requests[-1].messages if message.role == "tool"]
    assert reminded == [False, True, False]


def test_of_an_answer_that_cannot_be_used_only_so_much_is_kept() -> None:
    platform = Scripted(text("much " * 60_000, finish="length"), text("done"))

    run(agent_of(), platform)

    assert len(platform.requests[1].messages[2].content) < 20_000


def test_what_was_handed_in_stays_in_the_conversation() -> None:
    form = ReportForm(list[int])
    agent = agent_of(form=form)
    handed_in = call("submit_report", '{"report": [1]}')

    run(agent, Scripted(handed_in))
    platform = Scripted(handed_in)
    run(agent, platform, task="Once more.")

    assert [message.content for message in platform.requests[0].messages if message.role == "assistant"] == [
        '{"report": [1]}'
    ]
