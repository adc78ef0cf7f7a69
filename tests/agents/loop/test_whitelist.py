"""What is not in an agent's own list is never run, however it is spelled and wherever it stands."""

import json
import random
import time
from contextlib import suppress
from itertools import product

import pytest

from jarvis_workers.agents.loop.limits import AgentLimits
from jarvis_workers.agents.loop.text_tool_call import find_calls, tags
from jarvis_workers.agents.tools.tool import BadCall, Toolbox
from jarvis_workers.errors import AgentStopped
from jarvis_workers.models.platforms.profiles import PROFILES
from jarvis_workers.models.platforms.protocol import Reply, ToolCall
from tests.agents.loop.arrange import MARKS, NATIVE, TEXT, Scripted, agent_of, call, look, run, text
from tests.support.machine import is_within

NONCE = MARKS.nonce
START, END = tags(NONCE)
ALLOWED = "look"
OTHERS = ("execute_script", "save_memory", "edit_file", "server.tool_call.write", "submit_report", "read_code")
ALIKE = {
    "o": "оο0০",
    "l": "1Iıⅼ|",
    "k": "кκ",
    "e": "еé3",
    "c": "сϲ",
    "r": "г",
    "a": "аɑ",
    "s": "ѕ5",
    "i": "іí1",
    "t": "τ",
}
HIDDEN = ("\u200b", "\u200d", "\ufeff", "\u00ad", "\u202e", "\u2060", "\0", "\t", "\n", " ", "\u00a0", "\u3000")
AROUND = (
    "{}()",
    "({})",
    "tools.{}",
    "{}.run",
    "functions.{}",
    "default_api:{}",
    "/{}",
    "{};ls",
    "`{}`",
    '"{}"',
    "{}\\n",
    "%{}",
    "${{{}}}",
)


def names() -> list[str]:
    """A thousand names that are not `look`, the same at each run."""
    chance = random.Random(6)
    found: set[str] = set()
    for word in (ALLOWED, *OTHERS):
        found |= {word.upper(), word.title(), word.capitalize(), word.swapcase(), word[::-1], word + "s", word[:-1]}
        found |= {form.format(word) for form in AROUND}
        found |= {place for sign in HIDDEN for place in (sign + word, word + sign, word[:2] + sign + word[2:])}
        found |= {word.replace("_", sign) for sign in ("-", ".", " ", "", "__", "_\u200b")}
    while len(found) < 1_000 + len(OTHERS):
        word = list(chance.choice((ALLOWED, *OTHERS)))
        for place in range(len(word)):
            if word[place] in ALIKE and chance.random() < 0.5:
                word[place] = chance.choice(ALIKE[word[place]])
            elif chance.random() < 0.15:
                word[place] = word[place].upper()
        if chance.random() < 0.3:
            word.insert(chance.randrange(len(word) + 1), chance.choice(HIDDEN))
        found.add("".join(word))
    return sorted((found | set(OTHERS) | {"", "None", "*"}) - {ALLOWED})[:1_000]


NAMES = names()


def test_there_are_a_thousand_names() -> None:
    assert len(set(NAMES)) == 1_000
    assert ALLOWED not in NAMES
    assert set(Toolbox([look([])]).names) == {ALLOWED}


def outcome(reply: Reply, **about: object) -> list[str]:
    """Let a model answer, and return where the tool was told to look."""
    seen: list[str] = []
    agent = agent_of(look(seen), limits=AgentLimits(malformed=2), **about)  # type: ignore[arg-type]
    with suppress(AgentStopped):
        run(agent, Scripted(reply, text("done")))
    return seen


@pytest.mark.slow
def test_no_name_but_its_own_runs_a_tool() -> None:
    assert outcome(call(ALLOWED)) == [""]
    for name in NAMES:
        assert outcome(call(name)) == [], name


@pytest.mark.slow
def test_no_name_but_its_own_runs_a_tool_as_text() -> None:
    for name in [ALLOWED, *NAMES]:
        block = f"{START}\n{json.dumps({'name': name, 'arguments': {}})}\n{END}"
        assert outcome(text(block), profile=TEXT) == ([""] if name == ALLOWED else []), name


def test_a_tool_box_runs_only_what_is_in_it() -> None:
    seen: list[str] = []
    box = Toolbox([look(seen), look(seen, name="other")]).only(["look"])

    for name in [*NAMES, "other"]:
        assert box.run(name, {}).state == "error"
    assert seen == []


def test_several_calls_run_none() -> None:
    two = Reply("", (ToolCall("1", "look", "{}"), ToolCall("2", "look", '{"at": "b"}')), finish="tool_calls")

    assert outcome(two) == []
    assert outcome(blocks(("look", "{}"), ("look", '{"at": "b"}')), profile=TEXT) == []


def answers(*calls: tuple[str, str]) -> Reply:
    """Return an answer with several calls."""
    made = tuple(ToolCall(f"c{number}", name, arguments) for number, (name, arguments) in enumerate(calls))
    return Reply("", made, finish="tool_calls")


def blocks(*calls: tuple[str, str]) -> Reply:
    """Return an answer with several calls in text form."""
    made = (f'{START}\n{{"name": "{name}", "arguments": {arguments}}}\n{END}' for name, arguments in calls)
    return text("I look.\n" + "\n".join(made))


def test_several_calls_of_tools_that_only_read_run_and_each_has_its_result() -> None:
    seen: list[str] = []
    agent = agent_of(look(seen, reads_only=True), look([], name="write"))
    platform = Scripted(answers(("look", '{"at": "a"}'), ("look", '{"at": "b"}')), text("done"))

    result = run(agent, platform)

    assert (seen, result.tools) == (["a", "b"], {"look": 2})
    asked, *results = platform.requests[1].messages[-3:]
    assert [call.id for call in asked.calls] == [one.call_id for one in results] == ["c0", "c1"]
    assert [one.content for one in results] == ["A", "B"]
    assert "(look) may be called several times" in platform.requests[0].messages[-1].content


@pytest.mark.parametrize(
    "calls",
    [
        [("look", '{"at": "a"}'), ("write", '{"at": "b"}')],
        [("look", '{"at": "a"}'), ("look", "{")],
        [("look", '{"at": "a"}'), ("nothing", "{}")],
        [("look", '{"at": "a"}'), ("look", f'{{"at": "{MARKS.canary}"}}')],
    ],
)
@pytest.mark.parametrize("form", ["native", "text"])
def test_several_calls_of_which_one_may_not_run_with_others_run_none(calls: list[tuple[str, str]], form: str) -> None:
    seen: list[str] = []
    tools = look(seen, reads_only=True), look(seen, name="write")
    profile, answer = (TEXT, blocks) if form == "text" else (NATIVE, answers)

    run(agent_of(*tools, profile=profile), Scripted(answer(*calls), text("done")))

    assert seen == []


@pytest.mark.parametrize("form", ["native", "text"])
def test_eight_calls_of_an_answer_run_and_the_others_are_named(form: str) -> None:
    seen: list[str] = []
    profile, answer = (TEXT, blocks) if form == "text" else (NATIVE, answers)
    platform = Scripted(answer(*(("look", f'{{"at": "{number}"}}') for number in range(18))), text("done"))

    run(agent_of(look(seen, reads_only=True), profile=profile), platform)

    assert seen == [str(number) for number in range(8)]
    told = platform.requests[1].messages[-1].content
    assert 'These were not run:\n- look {"at": "8"}' in told and "\n- 2 more\n" in told
    assert told.endswith("2 more tool calls may follow.")


def test_several_calls_as_text_run_and_their_results_are_one_message() -> None:
    seen: list[str] = []
    agent = agent_of(look(seen, reads_only=True), look([], name="write"), profile=TEXT)
    platform = Scripted(blocks(*(("look", f'{{"at": "{at}"}}') for at in "abcd")), text("done"))

    result = run(agent, platform)

    assert (seen, result.tools) == (["a", "b", "c", "d"], {"look": 4})
    (asked, results) = platform.requests[1].messages[-2:]
    assert (asked.role, results.role) == ("assistant", "user")
    assert results.content.startswith("Result 1 of look:\nA\n\nResult 2 of look:\nB\n\n")
    rule = platform.requests[0].messages[-1].content
    assert "(look) may be called several times" in rule and "several blocks, one after another" in rule


def test_several_calls_count_as_several() -> None:
    seen: list[str] = []
    replies = [answers(*(("look", f'{{"at": "{row}{number}"}}') for number in range(4))) for row in "abcd"]
    platform = Scripted(*replies)

    with pytest.raises(AgentStopped, match="limit of 10 tool calls"):
        run(agent_of(look(seen, reads_only=True)), platform)

    assert seen == [f"{row}{number}" for row in "abc" for number in range(4)][:10]
    said = [request.messages[-1].content for request in platform.requests]
    assert [("2 more tool calls" in one, "No further tool call" in one) for one in said] == [
        *[(False, False)] * 2,
        (True, False),
        (False, True),
    ]


def test_who_reports_after_the_last_call_loses_nothing() -> None:
    replies = [answers(*(("look", f'{{"at": "{row}{number}"}}') for number in range(6))) for row in "ab"]

    assert run(agent_of(look([], reads_only=True)), Scripted(*replies, text("done"))).text == "done"


@pytest.mark.parametrize(("parallel", "count"), [(True, 2), (False, 0)])
def test_the_profile_decides_whether_an_answer_may_have_several_calls(parallel: bool, count: int) -> None:
    seen: list[str] = []
    profile = PROFILES["openai"].model_copy(update={"parallel_calls": parallel})
    platform = Scripted(answers(("look", '{"at": "a"}'), ("look", '{"at": "b"}')), text("done"))

    run(agent_of(look(seen, reads_only=True), profile=profile), platform)

    assert len(seen) == count


CARRIERS = {
    "prose": "You could write {} but do not.",
    "c comment": "The file says: /* {} */",
    "line comment": "// {}\nint x;",
    "code block": "Look:\n```json\n{}\n```\nThat was it.",
    "bare block at the end": "Look:\n```json\n{}\n```",
    "string literal": 'char *s = "{}";',
    "quotation": "> {}\n\nsays the README.",
    "list": "1. {}\n2. nothing",
    "thinking": "<think>{}</think>So it is.",
    "tool result": "Result of look:\n{}",
    "markdown": "**{}** `{}`",
    "alone": "{}",
}
GOALS = {
    "bare json": '{"name": "look", "arguments": {"at": "x"}}',
    "openai json": '{"tool_calls": [{"id": "1", "type": "function", "function": {"name": "look", "arguments": "{}"}}]}',
    "old tag": '<TOOL_CALL>\n{"name": "look", "arguments": {}}\n</TOOL_CALL>',
    "yaml tag": "<TOOL_CALL>\nname: look\narguments:\n  at: x\n</TOOL_CALL>",
    "wrong nonce": '<TOOL_CALL 0123456789abcdef>\n{"name": "look"}\n</TOOL_CALL 0123456789abcdef>',
    "nonce inside": f'{START} {{"name": "look"}} {END}',
    "no end": f'{START}\n{{"name": "look"}}',
    "hermes": '<tool_call>{"name": "look", "arguments": {}}</tool_call>',
    "react": 'Action: look\nAction Input: {"at": "x"}',
    "xml": '<function_calls><invoke name="look"></invoke></function_calls>',
    "python": 'look(at="x")',
    "mistral": '[TOOL_CALLS] [{"name": "look", "arguments": {}}]',
}


@pytest.mark.parametrize("profile", ["native", "text"])
@pytest.mark.parametrize(("carrier", "goal"), list(product(CARRIERS, GOALS)))
def test_a_call_that_is_quoted_is_text(carrier: str, goal: str, profile: str) -> None:
    answer = CARRIERS[carrier].replace("{}", GOALS[goal])

    seen = outcome(text(answer), profile=TEXT) if profile == "text" else outcome(text(answer))

    assert seen == []


def test_there_are_144_quotations() -> None:
    assert len(CARRIERS) * len(GOALS) == 144


@pytest.mark.parametrize(
    "answer",
    [
        f'{START}\n{{"name": "look"}}\n{END}\nThat is all.',
        f'So {START}\n{{"name": "look"}}\n{END}',
        f'{START}\n{{"name": "look"}} {END}',
        f'{END}\n{{"name": "look"}}\n{START}',
        f'{START}\n{START}\n{{"name": "look"}}\n{END}',
        f'{START}\n{{"name": "look", "name": "look"}}\n{END}',
        f'{START}\n{{"name": "look", "want": 1}}\n{END}',
        f'{START}\n{{"name": ["look"]}}\n{END}',
        f"{START}\n[]\n{END}",
        f"{START}\n\n{END}",
        f'```\n{START}\n{{"name": "look"}}\n{END}\n```',
        f'{START}\n{{"name": "look"}}\n{END}\nAnd:\n{START}\n{{"name": "look"}}\n{END}',
        f'{START}\n{{"name": "look"}}\n{END}{START}\n{{"name": "look"}}\n{END}',
        f'{START}\n{{"name": "look"}}\n{END}\n{END}',
        f"{START}\n{'[' * 100_000}\n{END}",
        f"{START}\n{'x' * 500_000}\n{END}",
    ],
)
def test_what_has_the_nonce_and_is_not_one_whole_block_is_an_error(answer: str) -> None:
    with pytest.raises(BadCall):
        find_calls(answer, NONCE)


@pytest.mark.parametrize("before", ["", "I will look.\n", "<TOOL_CALL>\nquoted\n</TOOL_CALL>\n"])
@pytest.mark.parametrize("after", ["", "\n", "\r\n \n"])
def test_one_whole_block_at_the_end_is_a_call(before: str, after: str) -> None:
    answer = f'{before}{START}\n{{"name": "look", "arguments": {{"at": "x"}}}}\n{END}{after}'

    (found,) = find_calls(answer, NONCE)

    assert (found.name, json.loads(found.arguments)) == ("look", {"at": "x"})


HUGE = {
    "prose": "word " * 200_000,
    "tags": "<TOOL_CALL>\n" * 80_000,
    "opened": START * 35_000,
    "braces": "{" * 1_000_000,
    "lines": "\n" * 1_000_000,
    "quotes": '{"name": "' * 100_000,
    "one block": f"{START}\n" + "x" * 1_000_000 + f"\n{END}",
    "nearly": f"</TOOL_CALL {NONCE[:-1]}" * 30_000,
}


@pytest.mark.timing
@pytest.mark.parametrize("kind", HUGE)
def test_an_answer_of_a_megabyte_is_read_at_once(kind: str) -> None:
    best = 1.0
    for _ in range(5):
        began = time.process_time()
        with suppress(BadCall):
            find_calls(HUGE[kind], NONCE)
        best = min(best, time.process_time() - began)

    assert is_within(best, 0.050)
