"""Scripted models that plan crates: their answers are made from the question."""

import json
import re
from collections.abc import Callable, Mapping

from tests.agents.loop.server import Body, Step, calls, says
from tests.agents.loop.translating import task_of

LINE = re.compile(r"^\W(\w+) \| (\S+) \| ", re.MULTILINE)
FUNCTION = re.compile(r"^\Wfunction (\w+)$", re.MULTILINE)
PARAMETER = re.compile(r"^\Wparameter (\S+): proposed ([a-z_ ]+)(?:, length (\S+))?; possible: (.*)$", re.MULTILINE)

Choose = Callable[[str, str, str, list[str]], str]


def is_layout(body: Body) -> bool:
    """Return whether a conversation is about modules, not about signatures."""
    return "Plan the modules" in task_of(body)


def is_about_signatures(body: Body) -> bool:
    """Return whether a conversation is about the signatures of functions."""
    return "How are the parameters" in task_of(body)


def functions_to_place(body: Body) -> dict[str, str]:
    """Return the functions of a question about modules, with their C files."""
    return dict(LINE.findall(task_of(body)))


def answer_about_plan(body: Body, module: str) -> Step | None:
    """Place all functions in one module, with the proposed signatures; None if the conversation is about neither."""
    if is_layout(body):
        return plan({module: list(functions_to_place(body))})
    return signatures(body) if is_about_signatures(body) else None


def plan(modules: Mapping[str, list[str]], enums: Mapping[str, str] | None = None) -> Step:
    """Answer with a plan: functions by the path of their module, and what becomes of enums."""
    rows = [{"path": path, "functions": names} for path, names in modules.items()]
    return says(f"<PLAN>\n{json.dumps({'modules': rows, 'enums': enums})}\n</PLAN>")


def signatures(body: Body, choose: Choose = lambda _function, _parameter, proposed, _forms: proposed) -> Step:
    """Answer with the kinds that `choose` returns for function, parameter, proposal and possible kinds.

    A kind may be followed by a length: "slice count".
    """
    task, functions = task_of(body), []
    starts = [*FUNCTION.finditer(task)]
    for match, end in zip(starts, [*(one.start() for one in starts[1:]), len(task)], strict=True):
        rows = []
        for name, proposed, length, forms in PARAMETER.findall(task, match.end(), end):
            kind = choose(match[1], name, f"{proposed} {length}" if length else proposed, forms.split(", "))
            word, _, count = kind.partition(" ") if "slice" in kind else (kind, "", "")
            rows.append({"name": name, "kind": word, "length": count})
        functions.append({"function": match[1], "parameters": rows})
    return calls("submit_report", functions=functions)
