"""Requests to show findings by execution, in the conversation of their verdicts or in one of their own, and answers."""

import json
import re
from collections.abc import Mapping
from typing import Any

from tests.agents.loop.server import Body, Step, says
from tests.support.judging import CANDIDATE, task_of, usage_of

SHOW = re.compile(r"^Show (?:candidate|these candidates by execution, with run_proof:) (\d+(?:, \d+)*)")
OWN = "Prove this finding."
WHAT = re.compile(rf"^{re.escape(OWN)}\n\n(.*?)\n\nWhat the reviewer wrote", re.DOTALL | re.MULTILINE)


def to_show(body: Body) -> dict[int, str]:
    """Return what a conversation shall show by execution: candidates and their texts, by number; empty if nothing."""
    task = task_of(body)
    if match := WHAT.search(task):
        return {1: match[1]}
    texts = {int(number): text for number, text in CANDIDATE.findall(task)}
    contents = [str(message["content"]) for message in body["messages"] if message["role"] == "user"]
    numbers = [match[1] for content in contents if (match := SHOW.match(content))]
    return {int(one): texts[int(one)] for one in numbers[-1].split(", ")} if numbers else {}


def tries(body: Body, attempts: Mapping[int, Mapping[str, Any]]) -> Step:
    """Answer with an attempt for each candidate."""
    is_named = len(CANDIDATE.findall(task_of(body))) > 1
    given = [attempt | ({"candidate": number} if is_named else {}) for number, attempt in attempts.items()]
    return Step(content=None, calls=tuple(("run_proof", json.dumps(one)) for one in given), usage=usage_of(body))


def gives_up(body: Body, reason: str, *, verdict: str = "risk") -> Step:
    """Answer with a report that gives up all that is to be shown."""
    items: Any = [{"gid": number, "verdict": verdict, "no_proof": reason} for number in to_show(body)]
    items = {"analysis": "", "reason": reason} if OWN in task_of(body) else {"report": items}
    if any(tool["function"]["name"] == "submit_report" for tool in body.get("tools", ())):
        report = items if "report" in items else {"report": items}
        return Step(content=None, calls=(("submit_report", json.dumps(report)),), usage=usage_of(body))
    return says(json.dumps(items), usage=usage_of(body))


def answers_since(body: Body) -> int:
    """Return the number of answers since a conversation was asked to show something."""
    asked = 0
    for number, message in enumerate(body["messages"]):
        if message["role"] == "user" and SHOW.match(str(message["content"])):
            asked = number
    return sum(message["role"] == "assistant" for message in body["messages"][asked:])
