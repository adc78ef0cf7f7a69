"""A deterministic model that also searches functions: it reports each copy of a given length as a defect."""

import json
import re
from typing import Any

from tests.agents.server import Body, Step, calls, says
from tests.judging import judge, usage_of

ASKED = "Look for defects in this function:"
FUNCTION = re.compile(r"^.(\S+)#(\w+)$", re.MULTILINE)
COPY = re.compile(r"^.(\d+)\| *(memcpy\(.*\w\);)$", re.MULTILINE)


def search(body: Body) -> Step:
    """Answer a question about a function with its copies; other questions as `judge` does, always confirming."""
    task = task_of(body)
    return found(body, defects(task)) if ASKED in task else judge(body, always="confirmed")


def task_of(body: Body) -> str:
    """Return the first message of a conversation's task."""
    return str(next(message["content"] for message in body["messages"] if message["role"] == "user"))


def function_of(body: Body) -> str:
    """Return the name of the function in question, empty for other questions."""
    task = task_of(body)
    return FUNCTION.findall(task)[0][1] if ASKED in task else ""


def defects(task: str) -> list[dict[str, Any]]:
    """Return an item for each copy in the code of the function."""
    code = task.partition("Part 1 ")[2].partition("Part 2 ")[0]
    return [defect(int(line), quote) for line, quote in COPY.findall(code)]


def defect(line: int, quote: str, **about: Any) -> dict[str, Any]:
    """Return an item of a report."""
    item = {"analysis": "n is not checked", "line": line, "quote": quote, "cwe": 787}
    return {**item, "description": f"{quote} may write too much", "suggestion": "check n", **about}


def found(body: Body, report: list[dict[str, Any]]) -> Step:
    """Return an answer that submits a report in the form that a request asks for."""
    usage = usage_of(body)
    if "submit_report" in {tool["function"]["name"] for tool in body.get("tools", [])}:
        return Step(content=None, calls=calls("submit_report", report=report).calls, usage=usage)
    if "response_format" in body:
        return says(json.dumps({"report": report}), usage=usage)
    return says(f"<DEFECTS>\n{json.dumps(report)}\n</DEFECTS>", usage=usage)
