"""A deterministic model that also reads whole files: it reports each copy of a given length."""

import json
import re
from typing import Any

from tests.agents.loop.server import Body, Step, calls, says
from tests.support.judging import judge, task_of, usage_of

# A copy of a given length that the rules do not report, since the size of the buffer is unknown.
PARSER = """\
struct s{n};
void *room_{n}(struct s{n} *s);
int parse_{n}(struct s{n} *s, const unsigned char *bytes, unsigned n)
{{
    memcpy(room_{n}(s), bytes, n);
    return bytes[0];
}}
"""
PLAIN = "int add(int a, int b)\n{\n    return a + b;\n}\n"
ASKED = "Read these files"
TITLE = re.compile(r"^.(\S+): (?:lines \d+-\d+ of )?\d+(?: lines)?$")
COPY = re.compile(r"^.(\d+)\| *(memcpy\(.*\w\);)$")


def is_reading(body: Body) -> bool:
    """Return whether a request is that of a reader."""
    return ASKED in task_of(body)


def read(body: Body) -> Step:
    """Answer a reader's question with the copies in its files; other questions as `judge` does, always confirming."""
    return reported(body, items(task_of(body))) if is_reading(body) else judge(body, always="confirmed")


def files_of(body: Body) -> list[str]:
    """Return the paths of the files that a reader is shown."""
    return [match[1] for line in task_of(body).split("\n") if (match := TITLE.match(line))]


def items(task: str) -> list[dict[str, Any]]:
    """Return an item for each copy in the code of a task."""
    path, result = "", []
    for line in task.split("\n"):
        if title := TITLE.match(line):
            path = title[1]
        elif copy := COPY.match(line):
            result.append(item(path, int(copy[1]), copy[2]))
    return result


def item(file: str, line: int, quote: str, **about: Any) -> dict[str, Any]:
    """Return an item of a report."""
    says = {"description": f"{quote} may write too much", "suggestion": "check n", "look_at": []}
    rated = {"reach": "file", "severity": "high", "sure": "likely"}
    return {"file": file, "line": line, "quote": quote, "cwe": 787, **says, **rated, **about}


def reported(body: Body, report: list[dict[str, Any]]) -> Step:
    """Return an answer that submits a report in the form that a request asks for."""
    usage = usage_of(body)
    if "submit_report" in {tool["function"]["name"] for tool in body.get("tools", [])}:
        return Step(content=None, calls=calls("submit_report", report=report).calls, usage=usage)
    if "response_format" in body:
        return says(json.dumps({"report": report}), usage=usage)
    return says(f"<HYPOTHESES>\n{json.dumps(report)}\n</HYPOTHESES>", usage=usage)
