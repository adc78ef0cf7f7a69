"""A deterministic model that judges candidates by the request alone: equal questions have equal answers.

The hash of a candidate's text determines its verdict, so that every status occurs in a larger tree.
"""

import json
import re
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any

from tests.agents.loop.server import Body, Step, calls, late, says
from tests.support.renamed_questions import dismissals, is_renamed

CANDIDATE = re.compile(r"^Candidate (\d+):\n\n(.*?)\n\n(?=Candidate \d|Surrounding code)", re.DOTALL | re.MULTILINE)
PLACE = re.compile(r"^.at (.+):(\d+)$", re.MULTILINE)
RULE = re.compile(r"^.rule: (\w+)", re.MULTILINE)
LINE = re.compile(r"^.line: (.*)$", re.MULTILINE)
NUMBER = re.compile(r"^.(\d+)\. language", re.MULTILINE)
AGAIN = "Put findings in one cluster"
FATES = ("confirmed", "confirmed", "dismissed", "dismissed", "dismissed", "review", "undecided")
TEXTS = {
    "preconditions": "the caller chooses the text",
    "trigger_path": "{place} -> {place}",
    "consequences": "a write behind the end",
    "suggestions": "check the length first",
}
NO_RISK = dict.fromkeys(TEXTS, "") | {"preconditions": "none: the length is known"}


def judge(body: Body, always: str | None = None, **rating: str) -> Step:
    """Answer a question about clusters or candidates; a verdict is `always`, or determined by the candidate's text.

    The `rating` is that of each verdict: its exposure, its severity.
    """
    return answer(body, lambda number, text: [item | rating for item in _items(number, text, always)])


def answer(body: Body, items: Callable[[int, str], list[dict[str, Any]]]) -> Step:
    """Answer a question about clusters, or about candidates, with `items` of the number and text of each.

    With replaced names, only what was dismissed is asked about: it is so again.
    """
    task = task_of(body)
    if AGAIN in task:
        return _hand_in(body, _clusters(task))
    if is_renamed(task):
        return _hand_in(body, dismissals(task))
    return _hand_in(body, [item for number, text in CANDIDATE.findall(task) for item in items(int(number), text)])


def task_of(body: Body) -> str:
    """Return the first message of a conversation's task."""
    return str(next(message["content"] for message in body["messages"] if message["role"] == "user"))


def place_of(text: str) -> tuple[str, str, int, str]:
    """Return the rule, file, line and code of a candidate from its text."""
    file, line = PLACE.findall(text)[0]
    return RULE.findall(text)[0], file, int(line), LINE.findall(text)[0]


def slow_judge(seconds: float) -> Callable[[Body], Step]:
    """Return a model that answers after a delay."""
    return lambda body: late(seconds, judge(body))


def fate(text: str) -> str:
    """Return the verdict on a candidate by its location, whatever the words of the prompt."""
    return FATES[sha256(repr(place_of(text)).encode()).digest()[0] % len(FATES)]


def _clusters(task: str) -> list[dict[str, Any]]:
    """Group the findings in pairs."""
    numbers = [int(number) for number in NUMBER.findall(task)]
    pairs = [numbers[at : at + 2] for at in range(0, len(numbers), 2)]
    return [{"verification": f"Is the length checked ({len(pair)})?", "gids": pair} for pair in pairs]


def _items(number: int, text: str, always: str | None) -> list[dict[str, Any]]:
    """Return the report items of a candidate; none if it should stay undecided."""
    decided = always or fate(text)
    if decided == "undecided":
        return []
    _, file, line, code = place_of(text)
    quote = code if decided != "review" else "this stands nowhere"
    has_risk = decided != "dismissed"
    texts = {name: said.format(place=f"{file}:{line}") for name, said in TEXTS.items()} if has_risk else NO_RISK
    evidence = [{"file": file, "line": line, "quote": quote}]
    return [{"gid": number, "has_risk": has_risk, **texts, "evidence": evidence}]


def _hand_in(body: Body, report: list[dict[str, Any]]) -> Step:
    tools = {tool["function"]["name"] for tool in body.get("tools", [])}
    usage = usage_of(body)
    if "submit_report" in tools:
        made = calls("submit_report", report=report)
        return Step(content=None, calls=made.calls, usage=usage)
    if "response_format" in body:
        return says(json.dumps({"report": report}), usage=usage)
    tag = "CLUSTERS" if report and "gids" in report[0] else "REPORT"
    return says(f"<{tag}>\n{json.dumps(report)}\n</{tag}>", usage=usage)


def usage_of(body: Body) -> Mapping[str, int]:
    """Return token counts as a tokenizer might."""
    prompt = sum(len(str(message.get("content") or "")) for message in body["messages"]) * 10 // 33
    return {"prompt_tokens": prompt, "completion_tokens": 120, "total_tokens": prompt + 120}
