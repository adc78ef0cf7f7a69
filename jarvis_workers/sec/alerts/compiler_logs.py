"""Read the text that compilers and clang-tidy print: `file:line:column: warning: text [rule]`.

The notes that follow a warning are the steps to it, and what gcc's analyzer draws below it: `(2) freed here` under a
line of code. A drawing names functions, not files: only the steps in the function of the warning are kept. Other lines
are those of a build.
"""

import re
from collections.abc import Sequence
from itertools import islice, takewhile

from jarvis_workers.sec.alerts.alert import Alert, AlertReport, FlowStep, counted, cwe_in, shortened

# Steps of one warning; compilers print some twenty.
STEPS_MAX = 100
LINE = re.compile(
    r"(?P<file>(?:[A-Za-z]:[\\/])?[^:\n]{1,1000}):(?P<line>\d{1,9})(?::(?P<column>\d{1,9}))?: "
    r"(?P<level>warning|error|fatal error|note): (?P<text>[^\n]{1,4000})"
)
# The start of such a line, at the end of output that was cut.
CUT = re.compile(r"(?:[A-Za-z]:[\\/])?[^:\n]{1,1000}:\d{1,9}(?::\d{0,9})?:? ?[a-z ]{0,11}$")
RULE = re.compile(r" \[(?P<rule>[A-Za-z0-9_.,+=*-]{1,200})\]$")
CODE = re.compile(r"\s*(?:\d+ \|)? ?(?P<code>.*)")
# In a drawing: the function of the steps that follow, a line of code, and steps at this line.
FUNCTION = re.compile(r"[ |+>-]*[‘'](?P<function>[^\n]{1,1000})[’']: events? \d")
DRAWN_CODE = re.compile(r"[ |]*\| {0,9}(?P<line>\d{1,9}) \| ")
DRAWN_STEPS = re.compile(r"[ |]*\|[ |]*(?=\(\d{1,3}\) )")
STEP = re.compile(r"\((?P<number>\d{1,3})\) (?P<text>[^\n]{1,1000}?)(?= {1,200}\(\d{1,3}\) |$)")
ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


def read_log(text: str) -> AlertReport:
    """Return the warnings and errors of a log that name a rule; those of a compiler without rules are counted."""
    alerts: list[Alert] = []
    left_out: dict[str, int] = {}
    current: Alert | None = None
    lines = ANSI.sub("", text).splitlines()
    for number, line in enumerate(lines):
        match = LINE.match(line)
        if match is None:
            continue
        if match["level"] == "note":
            if current is not None and len(current.steps) < STEPS_MAX:
                step = FlowStep(match["file"], int(match["line"]), shortened(match["text"]))
                current = alerts[-1] = current._replace(steps=(*current.steps, step))
            continue
        current = _alert(match, _code(lines, number))
        if current is not None:
            current = current._replace(steps=tuple(_drawn_steps(lines, number, match["file"])))
        if current is None:
            left_out["without a rule"] = left_out.get("without a rule", 0) + 1
        else:
            alerts.append(current)
    if lines and not text.endswith("\n") and CUT.match(lines[-1]):
        left_out["cut in its line"] = 1
    return AlertReport(counted(alerts), left_out)


def _alert(match: "re.Match[str]", code: str) -> Alert | None:
    text, rule = match["text"].rstrip(), ""
    while found := RULE.search(text):
        name = found["rule"]
        rule = rule or ("" if name.startswith("CWE-") else name)
        text = text[: found.start()]
    if not rule:
        return None
    tool = "gcc" if rule.startswith("-W") else "clang-tidy"
    name = rule.split(",")[0].removeprefix("-W").partition("=")[0]
    column = int(match["column"] or 0)
    cwe = cwe_in(match["text"])
    return Alert(tool, name, shortened(text), match["file"], int(match["line"]), column, cwe, match["level"], code)


def _code(lines: list[str], number: int) -> str:
    """Return the line of code that is printed below a warning, with a line of carets under it.

    A warning may have none; then what follows is that of the next one.
    """
    for place in (number + 1, number + 2):
        if place + 1 >= len(lines) or LINE.match(lines[place]):
            break
        if "^" in lines[place + 1] and not lines[place + 1].strip(" |^~0123456789"):
            found = CODE.match(lines[place])
            return found["code"].strip() if found else ""
    return ""


def _drawn_steps(lines: Sequence[str], number: int, file: str) -> list[FlowStep]:
    """Return the steps that are drawn below a warning, of those in its function: that of the last one."""
    steps: dict[str, dict[int, FlowStep]] = {}
    function, line = "", 0
    for text in takewhile(lambda one: one[:1] in (" ", "<"), islice(lines, number + 1, None)):
        if named := FUNCTION.match(text):
            function, line = named["function"], 0
            steps.setdefault(function, {})
        elif code := DRAWN_CODE.match(text):
            line = int(code["line"])
        elif line and function and (start := DRAWN_STEPS.match(text)):
            for step in STEP.finditer(text, start.end()):
                steps[function][int(step["number"])] = FlowStep(file, line, shortened(step["text"]))
    return [step for _, step in sorted(steps.get(function, {}).items())][-STEPS_MAX:]


def looks_like_log(text: str) -> bool:
    """Return whether a text has a line of a compiler."""
    return any(LINE.match(line) for line in ANSI.sub("", text).splitlines())
