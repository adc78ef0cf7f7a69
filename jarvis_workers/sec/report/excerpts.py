"""Choose which findings are shown with the code around them, and cut that code out of a file.

Excerpts are bounded in number, in lines, in width and in total, best findings first: a report of a million lines of
hostile code is still one that a browser opens.
"""

import heapq
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from textwrap import dedent
from typing import Any, NamedTuple

from jarvis_workers.sec.report.escape import visible
from jarvis_workers.sec.scanner import as_utf8

EXCERPTS_MAX = 5_000
CHARACTERS_MAX = 4_000_000
AROUND = 4
WIDTH = 200
TAB = 4
LONGEST = 1_000

Issue = Mapping[str, Any]


class Excerpt(NamedTuple):
    """Some lines of a file, the first of them with its number; nothing in them is left unseen."""

    first: int
    lines: tuple[str, ...]


def best_by_file(issues: Iterable[Issue], most: int = EXCERPTS_MAX) -> dict[str, list[Issue]]:
    """Return the `most` findings of highest score, by file."""
    best: defaultdict[str, list[Issue]] = defaultdict(list)
    for issue in heapq.nlargest(most, issues, key=lambda issue: issue["score"]):
        best[issue["file"]].append(issue)
    return dict(best)


def cut(content: bytes, issues: Iterable[Issue]) -> dict[str, Excerpt]:
    """Return the code around each finding of one file, by the finding's id; none where the file ends before it."""
    lines = as_utf8(content).split(b"\n")
    return {issue["id"]: _around(lines, issue["line"]) for issue in issues if issue["line"] <= len(lines)}


def bounded(excerpts: Mapping[str, Excerpt], issues: Iterable[Issue], most: int = CHARACTERS_MAX) -> dict[str, Excerpt]:
    """Keep as many as hold `most` characters together, those of the highest scores first."""
    kept: dict[str, Excerpt] = {}
    for issue in sorted(issues, key=lambda issue: -issue["score"]):
        found = excerpts.get(issue["id"])
        if found is None:
            continue
        most -= sum(map(len, found.lines))
        if most < 0:
            break
        kept[issue["id"]] = found
    return kept


def _around(lines: Sequence[bytes], number: int) -> Excerpt:
    first = max(1, number - AROUND)
    shown = dedent("\n".join(_line(line) for line in lines[first - 1 : number + AROUND]))
    return Excerpt(first, tuple(_cut(line) for line in shown.split("\n")))


def _line(line: bytes) -> str:
    return visible(line[:LONGEST].decode("utf-8", "backslashreplace").rstrip("\r").expandtabs(TAB))


def _cut(line: str) -> str:
    return line if len(line) <= WIDTH else line[: WIDTH - 1] + "…"
