"""Choose the findings that are shown with the surrounding code, and cut that code out of a file.

Excerpts are bounded in number, lines, width and total size, and the best findings come first, so that even a report on
a million lines of hostile code opens in a browser.
"""

import heapq
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from textwrap import dedent
from typing import NamedTuple

from jarvis_workers.escape import visible
from jarvis_workers.sec.report_document import Excerpt, Issue
from jarvis_workers.sec.scanner import as_utf8

EXCERPTS_MAX = 5_000
CHARACTERS_MAX = 4_000_000
AROUND = 4
WIDTH = 200
TAB = 4
LONGEST = 1_000

# Limits per finding: places other than its own, and lines in one piece.
PLACES_MAX = 24
MORE_MAX = 6
LINES_MAX = 60
QUOTED_MAX = 12
OWN, QUOTE, STEP = "hit", "quote", "step"


class MarkedLines(NamedTuple):
    """Lines of a file that belong to a finding: its own, quoted lines, or a step."""

    id: str
    first: int
    last: int
    kind: str


# By file, then by finding.
Pieces = Mapping[str, Mapping[str, Sequence[Excerpt]]]


def spots_by_file(issues: Iterable[Issue], most: int = EXCERPTS_MAX) -> dict[str, list[MarkedLines]]:
    """Return the places of the `most` highest-scoring findings, by file."""
    spots: defaultdict[str, list[MarkedLines]] = defaultdict(list)
    for issue in heapq.nlargest(most, issues, key=_worth):
        for file, spot in islice(_spots(issue), 1 + PLACES_MAX):
            spots[file].append(spot)
    return dict(spots)


def cut(content: bytes, spots: Iterable[MarkedLines]) -> dict[str, list[Excerpt]]:
    """Return the excerpts of one file by finding; the first piece of each contains the finding's own line."""
    lines = as_utf8(content).split(b"\n")
    theirs: defaultdict[str, list[MarkedLines]] = defaultdict(list)
    for spot in spots:
        if 0 < spot.first <= len(lines):
            theirs[spot.id].append(spot)
    return {name: _pieces(lines, excerpts) for name, excerpts in theirs.items()}


def window(content: bytes, line: int, around: int) -> Excerpt | None:
    """Return the lines around a line of a file, `around` on each side, or None if the line does not exist."""
    lines = as_utf8(content).split(b"\n")
    if not 0 < line <= len(lines):
        return None
    first = max(1, line - around)
    shown = dedent("\n".join(_line(one) for one in lines[first - 1 : line + around]))
    return Excerpt(first, tuple(_cut(one) for one in shown.split("\n")), ((line, OWN),))


def bounded(pieces: Pieces, issues: Iterable[Issue], most: int = CHARACTERS_MAX) -> dict[str, Excerpt]:
    """Combine the pieces of all files up to `most` characters, highest scores first."""
    excerpts: dict[str, Excerpt] = {}
    for issue in sorted(issues, key=_worth, reverse=True):
        excerpt = _joined(issue, pieces)
        if excerpt is None:
            continue
        most -= sum(len(line) for piece in (excerpt, *excerpt.more) for line in piece.lines)
        if most < 0:
            break
        excerpts[issue.id] = excerpt
    return excerpts


def _worth(issue: Issue) -> tuple[bool, float]:
    return issue.status != "dismissed", issue.score


def _spots(issue: Issue) -> Iterator[tuple[str, MarkedLines]]:
    name = issue.id
    yield issue.file, MarkedLines(name, issue.line, issue.line, OWN)
    for quote in issue.opinion.evidence:
        height = min(quote.quote.strip("\n").count("\n"), QUOTED_MAX)
        yield quote.file, MarkedLines(name, quote.line, quote.line + height, QUOTE)
    for step in issue.path:
        yield step.file, MarkedLines(name, step.line, step.line, STEP)


def _joined(issue: Issue, pieces: Pieces) -> Excerpt | None:
    """Return the piece that contains the finding's own line, with the others attached; None if that line is missing."""
    files = dict.fromkeys(file for file, _ in _spots(issue))
    result = [piece._replace(file=file) for file in files for piece in pieces.get(file, {}).get(issue.id, ())]
    if not result or result[0].file != issue.file or OWN not in dict(result[0].marks).values():
        return None
    own, *others = result
    marks = tuple(mark for mark in own.marks if mark[1] != OWN)
    return own._replace(file="", marks=marks, more=tuple(others[:MORE_MAX]))


def _pieces(lines: Sequence[bytes], spots: Iterable[MarkedLines]) -> list[Excerpt]:
    """Cut out each group of lines without overlap; the piece that contains the finding's own line comes first."""
    pieces, after = [], 0
    for group in _grouped(spots):
        own = any(spot.kind == OWN for spot in group)
        piece = _piece(lines, group, after if group[0].first > after else 0)
        after = max(after, piece.first + len(piece.lines) - 1)
        pieces.append((not own, piece))
    return [piece for _, piece in sorted(pieces, key=lambda one: one[0])]


def _grouped(spots: Iterable[MarkedLines]) -> list[list[MarkedLines]]:
    """Group adjacent lines, in the order of lines."""
    groups: list[list[MarkedLines]] = []
    for spot in sorted(spots, key=lambda one: one.first):
        start, _ = _reach(spot)
        near = bool(groups) and start <= max(_reach(one)[1] for one in groups[-1]) + 1
        if near and spot.last - groups[-1][0].first < LINES_MAX - 2 * AROUND:
            groups[-1].append(spot)
        else:
            groups.append([spot])
    return groups


def _reach(spot: MarkedLines) -> tuple[int, int]:
    around = AROUND if spot.kind == OWN else AROUND // 2
    return max(1, spot.first - around), spot.last + around


def _piece(lines: Sequence[bytes], spots: Sequence[MarkedLines], after: int) -> Excerpt:
    """Cut out a group of lines with the surrounding ones, no earlier than the line after `after`."""
    reaches = [_reach(spot) for spot in spots]
    first, last = max(after + 1, min(start for start, _ in reaches)), max(end for _, end in reaches)
    shown = dedent("\n".join(_line(line) for line in lines[first - 1 : last]))
    marked = {
        line: spot.kind for spot in sorted(spots, key=_rank) for line in range(spot.first, min(spot.last, last) + 1)
    }
    return Excerpt(first, tuple(_cut(line) for line in shown.split("\n")), tuple(sorted(marked.items())))


def _rank(spot: MarkedLines) -> int:
    """Return the sort key of a mark: the last of several marks on a line wins, and OWN is last."""
    return (STEP, QUOTE, OWN).index(spot.kind)


def _line(line: bytes) -> str:
    return visible(line[:LONGEST].decode("utf-8", "backslashreplace").rstrip("\r").expandtabs(TAB))


def _cut(line: str) -> str:
    return line if len(line) <= WIDTH else line[: WIDTH - 1] + "…"
