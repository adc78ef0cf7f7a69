"""Read the text that compilers and clang-tidy print: `file:line:column: warning: text [rule]`.

The notes that follow a warning are the steps to it. Other lines are those of a build.
"""

import re

from jarvis_workers.sec.alerts.alert import Alert, AlertReport, FlowStep, counted, cwe_in, shortened

# Steps of one warning; compilers print some twenty.
STEPS_MAX = 100
LINE = re.compile(
    r"(?P<file>(?:[A-Za-z]:[\\/])?[^:\n]{1,1000}):(?P<line>\d{1,9})(?::(?P<column>\d{1,9}))?: "
    r"(?P<level>warning|error|fatal error|note): (?P<text>[^\n]{1,4000})"
)
RULE = re.compile(r" \[(?P<rule>[A-Za-z0-9_.,+=*-]{1,200})\]$")
CODE = re.compile(r"\s*(?:\d+ \|)? ?(?P<code>.*)")
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
        if current is None:
            left_out["without a rule"] = left_out.get("without a rule", 0) + 1
        else:
            alerts.append(current)
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


def looks_like_log(text: str) -> bool:
    """Return whether a text has a line of a compiler."""
    return any(LINE.match(line) for line in ANSI.sub("", text).splitlines())
