"""Questions about code with replaced names: what a model says that agrees with the dismissals that it has given."""

import re

IS_RENAMED = ("All names that the project defines are replaced", "项目定义的所有名称都已替换")
NUMBER = re.compile(r"^(?:Candidate|候选项) (\d+)(?::|：)$", re.MULTILINE)
TITLE = re.compile(r"^\W?(file\d+\.\w+#[\w:]+)(?:\(\d+\))?: \d+ lines?", re.MULTILINE)
LINE = re.compile(r"^\W?(\d+)\| (.+)$", re.MULTILINE)


def is_renamed(text: str) -> bool:
    """Return whether a message is about code with replaced names."""
    return any(words in text for words in IS_RENAMED)


def dismissals(question: str) -> list[dict[str, object]]:
    """Return a dismissal of each candidate, with the longest line of the first part that is shown."""
    title = TITLE.search(question)
    assert title is not None, question
    rest = question[title.end() :]
    after = TITLE.search(rest)
    lines = LINE.findall(rest[: after.start()] if after else rest)
    number, line = max(lines, key=lambda one: (lines.count(one) == 1, sum(map(str.isalnum, one[1]))))
    evidence = [{"file": title[1], "line": int(number), "quote": line.strip()}]
    return [
        {"gid": int(gid), "has_risk": False, "preconditions": "the length is checked before", "evidence": evidence}
        for gid in NUMBER.findall(question)
    ]
