"""`jarvis sec agent` with a model that knows nothing: the answers are like those of one with 135 million parameters.

It may find nothing. Nothing is dismissed, confirmed, proved or called clean because of it, and what it did not read is
named.
"""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.agents.loop.server import Body, ModelServer, Step, calls, says, truncates
from tests.cli.commands import Jarvis
from tests.support.judging import task_of
from tests.support.reading_files import PLAIN, is_reading, item, reported
from tests.support.settings_files import write_settings

REPEATED = "It is not possible to find the error, and it is not possible to fix it. "
EXAMPLE = item("src/a.c", 13, "memcpy(name, p + 2, n);")
CALL = re.compile(r"<TOOL_CALL \w+>")
CALLED = 'void f(char *a, char *b)\n{\n    strcpy(a, getenv("A"));\n    f(b, a);\n}\n'
CUT_ITEM = '[{"file": "called.c", "line": 3, "quote": "strc'
UNCLEAN = ("proved", "confirmed", "dismissed")


def submits(body: Body, report: list[dict[str, Any]]) -> Step:
    """Submit a report, whatever was asked for."""
    step = reported(body, report)
    return says(str(step.content).replace("HYPOTHESES", "REPORT")) if step.content and not is_reading(body) else step


def copies_the_example(body: Body) -> Step:
    example = re.search(r"<REPORT>\n.*?\n</REPORT>", str(body["messages"][0]["content"]), re.DOTALL)
    return submits(body, [EXAMPLE]) if is_reading(body) else says(example[0] if example else "<REPORT>\n…\n</REPORT>")


def calls_what_is_no_tool(body: Body) -> Step:
    if body.get("tools"):
        return calls("memcpy", to="name", size=64)
    start = (CALL.findall(task_of(body)) or ["<TOOL_CALL>"])[0]
    return says(f'{start}\n{{"name": "memcpy", "arguments": {{}}}}\n{start.replace("<", "</")}')


def begins_a_call(body: Body) -> Step:
    return says(
        f"A tool call is one block at the end of an answer:\n\n{(CALL.findall(task_of(body)) or ['<TOOL_CALL>'])[0]}"
    )


ANSWERS: dict[str, Callable[[Body], Step]] = {
    "repetition without an end": lambda _: truncates(REPEATED * 100),
    "repetition": lambda _: says(REPEATED * 100),
    "the question": lambda body: says(task_of(body)),
    "the schema": lambda _: says('{"type": "array", "items": {"title": "A defect", "type": "object"}}'),
    "the example": copies_the_example,
    "an unknown tool": calls_what_is_no_tool,
    "half a call": begins_a_call,
    "half a report": lambda body: says(f"<{'HYPOTHESES' if is_reading(body) else 'REPORT'}>\n{CUT_ITEM}"),
    "nothing": lambda _: says(""),
    "an empty item": lambda body: submits(body, [{}]),
    "500 examples": lambda body: submits(body, [EXAMPLE] * 500),
}


@pytest.mark.slow
@pytest.mark.parametrize("profile", ["generic", "llama.cpp", "openai"])
@pytest.mark.parametrize("answer", ANSWERS.values(), ids=list(ANSWERS))
def test_rubbish_decides_nothing_and_what_was_not_read_is_named(
    jarvis: Jarvis, monkeypatch: pytest.MonkeyPatch, profile: str, answer: Callable[[Body], Step]
) -> None:
    monkeypatch.delenv("JARVIS_AGENT__READ")
    jarvis.tree("src", {"called.c": CALLED, "plain.c": PLAIN})
    with ModelServer(forever=answer) as server:
        group = {"model": "m", "base_url": server.url, "profile": profile, "api_key": "k"}
        write_settings(jarvis.place, {"models": {"m": group}, "model_group": "m"})
        ended = jarvis("sec", "agent", "src", "--prove", "--lang", "en", "-o", "r.json")
        asked = len(server.requests)
        texts = [jarvis("runs", "report", "last", "--format", form).out for form in ("text", "markdown", "html")]

    report = json.loads((jarvis.place / "r.json").read_text())
    summary = report["summary"]
    assert (ended.code, "Traceback" in ended.err) == (3, False) and asked <= 20
    assert not set(UNCLEAN) & {issue["status"] for issue in report["issues"]} and not report.get("dismissed")
    assert {"called.c", "plain.c"} <= {gap["file"] for gap in summary["not_checked"] if "not read" in gap["reason"]}
    assert (summary["reading"]["read"], summary["reading"]["lines_read"]) == (0, 0)
    count = len(report["issues"])
    says_it = f"A model verified 0 of {count} locations flagged by rules. It read 0 of 2 files whole, 0% of the lines"
    assert count and all(says_it in text for text in texts)
